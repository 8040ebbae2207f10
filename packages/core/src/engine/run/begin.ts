import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { hasOutcome } from '../../ledger/folds/invocation-fold.ts';
import { laneAt } from '../../ledger/folds/lanes.ts';
import { taskInItem } from '../../ledger/folds/task.ts';
import { nextRetry, type RetriedRun, waitingTasks } from '../../ledger/folds/waiting-tasks.ts';
import type { InboxEntry } from '../../ledger/port.ts';
import { wrongName } from '../../models/named-model.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Session } from '../../session/session.ts';
import type { AppServices } from '../frame/app-services.ts';
import { NoOpenRunError } from '../frame/errors.ts';
import { inFlightOn } from '../frame/in-flight.ts';
import type { ResolvedRunLimits } from '../frame/run-options.ts';
import { assertMayBegin } from '../invoke/input-contract.ts';
import { laneOfItem } from './inbox/item-lane.ts';
import { InboxReader } from './inbox/reader.ts';
import { noteUnusable } from './inbox/unused-answers.ts';
import { wakeAfter } from './lanes/lane-work.ts';
import { reopenDrafts } from './reopen.ts';
import { openRoot, rootToContinue } from './root-run.ts';
import { assertRequested, type RunRequest } from './run-request.ts';

/** The runnable and request of a run, and the open run that it continues. */
export interface Beginning {
  readonly open: InvocationRecord | undefined;
  readonly runnable: Runnable;
  readonly request: RunRequest;
}

/** Finds the runnable of a run and the open run that it continues. */
export async function begin(
  app: AppServices,
  session: Session,
  request: RunRequest,
): Promise<Beginning> {
  try {
    await reopenRetried(session, request, true);
    const open = rootToContinue(session, request);
    if (open === undefined && request.runnable === undefined)
      return await beginPosted(app, session, request);
    // Only detached work of the root goes on. The next run continues that, too.
    const isOver =
      open !== undefined &&
      request.runnable === undefined &&
      !request.isNamed &&
      hasOutcome(session.ledger.invocations, open.path);
    const posted = isOver
      ? postedBeginning(app, session, request, await session.ledger.ports.store.inbox(session.id))
      : undefined;
    if (posted !== undefined) return posted;
    return findBeginning(app, session, request);
  } catch (error) {
    const root = openRoot(session, request.lane);
    if (root !== undefined)
      await noteUnusable(session.ledger, root.path, error).catch(() => undefined);
    throw error;
  }
}

/**
 * Reopens a run of the lane whose task is to be executed again.
 * @param mayWait true when other tasks of the session go before one whose time has not come
 */
async function reopenRetried(
  { id, ledger }: Session,
  { lane, runnable }: RunRequest,
  mayWait: boolean,
): Promise<boolean> {
  const { clock, recording, store } = ledger.ports;
  // A replay has the recorded reopening.
  if (runnable !== undefined || recording !== undefined) return false;
  const next = nextRetry(ledger.events);
  if (next === undefined || laneAt(ledger.invocations, next.runId) !== lane) return false;
  if (mayWait && next.notBefore > clock.now() && isBehind(next, await store.inbox(id)))
    return false;
  const reason = 'The task is executed again as a whole.';
  const drafts = reopenDrafts(ledger, { path: next.runId, reason, by: 'runtime' }, true);
  ledger.append(drafts, { wakeAt: clock.now() });
  return true;
}

/** True when other tasks wait, and nobody cancels the one that is to be executed again. */
function isBehind({ runId }: RetriedRun, entries: readonly InboxEntry[]): boolean {
  return (
    waitingTasks(entries).length > 0 &&
    !entries.some(({ data, type }) => type === 'cancel' && data['runId'] === runId)
  );
}

function findBeginning(app: AppServices, session: Session, request: RunRequest): Beginning {
  const open = rootToContinue(session, request);
  if (open !== undefined) assertRequested(session, open, request);
  const runnable = request.runnable ?? app.registry.get(open?.name ?? '');
  if (open !== undefined) assertRequested(session, open, { runnable });
  if (open !== undefined) assertMayBegin(open, request);
  return { open, runnable, request };
}

/**
 * Works on the inbox of a session without an open run. Records items that came too late, and begins
 * a run that a process without the session has posted.
 * @throws NoOpenRunError when there is none
 */
async function beginPosted(
  app: AppServices,
  session: Session,
  request: RunRequest,
): Promise<Beginning> {
  const { ledger } = session;
  const { lane } = request;
  const nothing = (): void => undefined;
  const inbox = new InboxReader({
    ledger,
    runId: request.runId,
    lane,
    mayBegin: (name) => app.registry.has(name),
    isOpen: () => false,
    cancel: nothing,
    pause: nothing,
    interrupt: nothing,
  });
  if (ledger.lease.inboxSeq > 0) await inbox.drain();
  const posted = postedBeginning(app, session, request, inbox.left.values());
  if (posted !== undefined) return posted;
  // People may have asked for another execution of a task.
  if (await reopenRetried(session, request, false)) return findBeginning(app, session, request);
  const isLast = inFlightOn(ledger).runs === 1;
  if (isLast) ledger.append([], { wakeAt: wakeAfter(ledger, app.telling, lane) });
  await ledger.durable();
  throw new NoOpenRunError({ session: session.id });
}

/** Returns the beginning of the first run in the inbox that was posted for the lane. */
function postedBeginning(
  app: AppServices,
  session: Session,
  request: RunRequest,
  entries: Iterable<InboxEntry>,
): Beginning | undefined {
  for (const entry of entries) {
    const { type, data: posted } = entry;
    const { runId, runnable: name, text, data } = posted;
    const input = typeof text === 'string' ? text : undefined;
    if (
      type !== 'user' ||
      typeof runId !== 'string' ||
      typeof name !== 'string' ||
      (input === undefined && data === undefined) ||
      laneOfItem(session.ledger, entry) !== request.lane
    )
      continue;
    const runnable = app.registry.get(name);
    assertRequested(session, { ...runnable, path: runId }, { ...request, runnable: undefined });
    const asked = {
      ...request,
      runId,
      isNamed: true,
      input,
      data,
      posted: runId,
      ...modelIn(posted),
      task: taskInItem(posted),
      limits: limitsIn(posted, request.limits),
    };
    // Another process may have run it by its name meanwhile.
    return {
      open: session.ledger.invocations.byPath.get(runId),
      runnable,
      request: asked,
    };
  }
  return undefined;
}

/** The model that a posted run names. A name that is damaged names none. */
function modelIn({ model }: InboxEntry['data']): { readonly model?: string } {
  return typeof model === 'string' && wrongName(model) === undefined ? { model } : {};
}

/** The limits of a posted run, which may have one of its rounds. */
function limitsIn({ maxRounds }: InboxEntry['data'], limits: ResolvedRunLimits): ResolvedRunLimits {
  if (typeof maxRounds !== 'number') return limits;
  return { ...limits, rounds: maxRounds, own: { ...limits.own, rounds: maxRounds } };
}
