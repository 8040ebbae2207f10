import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { hasOutcome } from '../../ledger/folds/invocation-fold.ts';
import { defaultLane, laneAt } from '../../ledger/folds/lanes.ts';
import { hasTaken, takenMessage } from '../../ledger/folds/taken-message.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { belongsTo, rootOf } from '../../ledger/path.ts';
import type { Session } from '../../session/session.ts';
import { openDetached, openDetachedIn } from '../frame/open-detached.ts';
import type { RunRequest } from './run-request.ts';

/** Checks that the root of a run, or detached work of its lane, has no outcome yet. */
export function isRunOpen(ledger: Ledger, runId: string, lane: string): boolean {
  const { invocations } = ledger;
  return (
    (invocations.byPath.has(runId) && !hasOutcome(invocations, runId)) ||
    openDetachedIn(ledger, lane).length > 0
  );
}

/** Root runs of a session that have no outcome yet. */
export function* openRoots({
  ledger: { invocations },
}: Pick<Session, 'ledger'>): Generator<InvocationRecord> {
  for (const path of invocations.roots) {
    const record = invocations.byPath.get(path);
    if (record?.mode === 'root' && !hasOutcome(invocations, path)) yield record;
  }
}

/** The root run of a lane that has no outcome yet. */
export function openRoot(
  session: Pick<Session, 'ledger'>,
  lane: string,
): InvocationRecord | undefined {
  for (const root of openRoots(session)) if (laneOfRoot(root) === lane) return root;
  return undefined;
}

/** Lanes with a run, or with detached work, that has no outcome yet. */
export function openLanes(ledger: Ledger): readonly string[] {
  const lanes = new Set<string>();
  for (const root of openRoots({ ledger })) lanes.add(laneOfRoot(root));
  for (const { path } of openDetached(ledger)) lanes.add(laneAt(ledger.invocations, path));
  return [...lanes];
}

/** The lane of the root of a run. */
function laneOfRoot({ start }: InvocationRecord): string {
  return start.lane ?? defaultLane;
}

/**
 * The root that a request continues: the one it names, else the open one of its lane, else one of
 * its lane whose detached children are open.
 */
export function rootToContinue(
  session: Session,
  request: RunRequest,
): InvocationRecord | undefined {
  const { byPath, roots } = session.ledger.invocations;
  const { lane, runId, runnable } = request;
  const named =
    byPath.get(runId) ?? rootWithInput(session.ledger, request) ?? openRoot(session, lane);
  if (named !== undefined || runnable !== undefined) return named;
  const detached = openDetachedIn(session.ledger, lane);
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
