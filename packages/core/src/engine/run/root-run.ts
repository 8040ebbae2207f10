import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { hasOutcome } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { belongsTo } from '../../ledger/path.ts';
import type { Session } from '../../session/session.ts';
import { openDetached } from './detached-children.ts';
import type { RunRequest } from './execute-run.ts';

/** The root run of a session that has no outcome yet. */
export function openRoot(session: Pick<Session, 'ledger'>): InvocationRecord | undefined {
  const { invocations } = session.ledger;
  for (const path of invocations.roots) {
    const record = invocations.byPath.get(path);
    if (record?.mode === 'root' && !hasOutcome(invocations, path)) return record;
  }
  return undefined;
}

/**
 * The root that a request continues: the one it names, else the open one, else one whose detached
 * children are open.
 */
export function rootToContinue(
  session: Session,
  request: RunRequest,
): InvocationRecord | undefined {
  const { byPath, roots } = session.ledger.invocations;
  const { runId, runnable } = request;
  const named = byPath.get(runId) ?? rootTold(session.ledger, request) ?? openRoot(session);
  if (named !== undefined || runnable !== undefined) return named;
  const detached = openDetached(session.ledger);
  const root = roots.findLast((path) => detached.some((child) => belongsTo(child.path, path)));
  return root === undefined ? undefined : byPath.get(root);
}

/**
 * The root that was told this run's input, because it was open when the run was asked for under its
 * chosen name.
 */
function rootTold(
  ledger: Ledger,
  { runId, isNamed, input }: RunRequest,
): InvocationRecord | undefined {
  if (!isNamed || input === undefined) return undefined;
  const told = ledger.events.find(
    (event) =>
      event.type === 'user' && event.clientKey === runId && ledger.resolve(event.text) === input,
  );
  return ledger.invocations.byPath.get(told?.invocationId?.split(/[/>]/)[0] ?? '');
}

/**
 * The root that has taken in already what a run asks for under a chosen name. Whatever it is asked
 * for again is nothing new.
 */
export function rootAskedBefore(
  { ledger }: Pick<Session, 'ledger'>,
  request: RunRequest,
): InvocationRecord | undefined {
  if (!request.isNamed) return undefined;
  const { invocations } = ledger;
  const named = invocations.byPath.get(request.runId);
  if (named !== undefined && (request.input === undefined || hasOutcome(invocations, named.path)))
    return named;
  return rootTold(ledger, request);
}
