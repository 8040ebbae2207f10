import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { hasOutcome } from '../../ledger/folds/invocation-fold.ts';
import { hasTaken, takenMessage } from '../../ledger/folds/taken-message.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { belongsTo, rootOf } from '../../ledger/path.ts';
import type { Session } from '../../session/session.ts';
import { openDetached } from '../frame/open-detached.ts';
import type { RunRequest } from './run-request.ts';

/** Checks that the root of a run, or detached work of the session, has no outcome yet. */
export function isRunOpen(ledger: Ledger, runId: string): boolean {
  const { invocations } = ledger;
  return (
    (invocations.byPath.has(runId) && !hasOutcome(invocations, runId)) ||
    openDetached(ledger).length > 0
  );
}

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
  const named = byPath.get(runId) ?? rootWithInput(session.ledger, request) ?? openRoot(session);
  if (named !== undefined || runnable !== undefined) return named;
  const detached = openDetached(session.ledger);
  const root = roots.findLast((path) => detached.some((child) => belongsTo(child.path, path)));
  return root === undefined ? undefined : byPath.get(root);
}

/**
 * The root that got the input of this run. It was open when the caller asked for the run under a
 * chosen name.
 */
function rootWithInput(
  ledger: Ledger,
  { runId, isNamed, input }: RunRequest,
): InvocationRecord | undefined {
  if (!isNamed || input === undefined) return undefined;
  const message = takenMessage(ledger, runId, input);
  return ledger.invocations.byPath.get(rootOf(message?.invocationId ?? ''));
}

/**
 * The root that already has the input which a run asks for under a chosen name. The same request
 * again asks for nothing new.
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
  return rootWithInput(ledger, request);
}

/** The root of the run that took the input which was posted under the key `posted`. */
export function rootOfPosted({ ledger }: Session, posted: string): string | undefined {
  const event = ledger.events.findLast((candidate) => hasTaken(candidate, posted));
  return event?.invocationId === undefined
    ? ledger.invocations.byPath.get(posted)?.path
    : rootOf(event.invocationId);
}
