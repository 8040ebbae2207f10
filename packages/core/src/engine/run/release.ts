import { defined } from '../../base/defined.ts';
import type { EventDraft, EventOf } from '../../ledger/event.ts';
import { hasOutcome, lastRecord } from '../../ledger/folds/invocation-fold.ts';
import { turnOfWaiting, type WaitingTask, waitingTasks } from '../../ledger/folds/waiting-tasks.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { TurnPatch } from '../../ledger/port.ts';
import { inFlightOn, releaseLedger } from '../frame/in-flight.ts';
import { openDetachedIn } from '../frame/open-detached.ts';
import type { RunContext } from '../frame/run-context.ts';
import type { RunWait } from '../frame/run-release.ts';
import { wakeAfter } from './lanes/lane-work.ts';
import { openLanes, openRoots } from './root-run.ts';
import { isYieldRecorded, lastSeqIn } from './still-waiting.ts';
import type { Turn } from './turn.ts';
import { earliest } from './waiting/request-teller.ts';
import { tooManyWaiting, waitsForMessage } from './waiting/waiting-limit.ts';

/**
 * Largest number of looks at the inbox before an ended run releases its session in any case. Items
 * that come later wake the next owner.
 */
const mostLooks = 5;

/**
 * Records that a run waits, and releases its session. Returns false when the run must have another
 * turn, because an item was posted meanwhile.
 */
export async function releaseWaiting(turn: Turn, wait: RunWait): Promise<boolean> {
  const { run, inbox } = turn;
  const { app, lane, ledger, runId } = run;
  const refusal = await tooManyWaiting(run, wait);
  if (refusal.length > 0) {
    // The next turn finds that the run is cancelled.
    ledger.append(refusal);
    return false;
  }
  const expiresAt = expiryOf(run, wait);
  const yields = yieldDrafts(ledger, runId, wait, expiresAt);
  const wasIdle = lastSeqIn(ledger, lane) === turn.seqBefore;
  // A run that waits as before has recorded its yields already.
  const drafts =
    wasIdle && yields.every((draft) => isYieldRecorded(ledger, draft))
      ? []
      : yields.map((draft) => (wasIdle ? { ...draft, late: true as const } : draft));
  // Other processes continue the detached work when this process stops.
  const isBusy =
    (run.detached.isUnderWay && !run.detached.isReleased) || inFlightOn(ledger).runs > 1;
  const wakeAt = isBusy
    ? app.clock.now()
    : earliest(wakeAfter(ledger, app.telling, lane), drafts.length > 0 ? expiresAt : undefined);
  ledger.append(drafts, { wakeAt });
  await ledger.durable();
  if (run.detached.isUnderWay) {
    await turn.watchDetached();
    return true;
  }
  await turn.end();
  // Another run, or its detached work, goes on here and needs the session.
  if (inFlightOn(ledger).runs > 1) return !(await hasNews(turn));
  const rest = restBefore(turn, wakeAt);
  const { released } = await releaseLedger(ledger, { inboxSeq: inbox.seen, ...rest });
  return released;
}

/** Tasks of the session that wait for the run of a turn. */
function tasksBehind({ inbox, run }: Turn): readonly WaitingTask[] {
  const { byPath } = run.ledger.invocations;
  return waitingTasks(inbox.left.values()).filter(({ task }) => !byPath.has(task.id));
}

/** Lets the turn rest while the run waits and other tasks of the session wait for it. */
function restBefore(turn: Turn, at: number | null): { readonly turn?: TurnPatch } {
  if (tasksBehind(turn).length === 0) return {};
  return { turn: { to: 'resting', ...defined({ at: at ?? undefined }) } };
}

/** Gives the turn of an ended run to the next task of the session. */
function turnForNext(turn: Turn | undefined): { readonly turn?: TurnPatch } {
  if (turn === undefined) return {};
  const { app, ledger } = turn.run;
  if ([...openRoots({ ledger })].length > 0) return {};
  return defined({ turn: turnOfWaiting(tasksBehind(turn), ledger.events, app.clock.now()) });
}

/** Checks that an item was posted that the run of a turn has not read. */
async function hasNews({ inbox, run }: Turn): Promise<boolean> {
  const { ports, session } = run.ledger;
  const head = await ports.store.head(session);
  return head !== undefined && head.inboxSeq > inbox.seen;
}

type YieldDraft = Extract<EventDraft, { readonly type: 'invocation_yield' }>;

/** Makes the yields of a run that waits: of its waiting invocations and of its root. */
function yieldDrafts(
  ledger: Ledger,
  runId: string,
  { leaves, pausedFor }: RunWait,
  expiresAt: number | undefined,
): YieldDraft[] {
  const reasons = new Map<string, EventOf<'invocation_yield'>['reason']>();
  for (const { path, reason } of leaves) reasons.set(path, reason);
  const root = lastRecord(ledger.invocations, runId)?.path ?? runId;
  // An answer continues a run that waits for it, but not one that people have paused.
  if (pausedFor === 'pause') reasons.set(root, 'pause');
  else if (!reasons.has(root)) reasons.set(root, [...reasons.values()][0] ?? 'input');
  return [...reasons].map(([invocationId, reason]) => ({
    type: 'invocation_yield',
    by: 'runtime',
    invocationId,
    reason,
    ...(invocationId === root ? defined({ expiresAt }) : {}),
  }));
}

/** Time at which a run that waits for nothing but a message is cancelled. */
function expiryOf({ app, ledger, runId }: RunContext, wait: RunWait): number | undefined {
  const { messageExpiresInMs } = app.defaults;
  if (messageExpiresInMs === false || !waitsForMessage(ledger, runId, wait)) return undefined;
  return app.clock.now() + messageExpiresInMs;
}

/**
 * Releases the session after the last turn of a run. Before, it takes in items that were posted
 * last, as far as they still concern the run.
 */
export async function releaseEnded(
  ledger: Ledger,
  { app, lane, runId }: Pick<RunContext, 'app' | 'lane' | 'runId'>,
  turn?: Turn,
): Promise<void> {
  if (ledger.lease.claim === undefined) return;
  if (ledger.failure === undefined && turn !== undefined && needsWake(turn))
    ledger.append([], { wakeAt: wakeAfter(ledger, app.telling, lane) });
  if (ledger.failure === undefined && hasOutcome(ledger.invocations, runId)) {
    for (let looks = 0; looks < mostLooks; looks++) {
      const inboxSeq = Math.max(turn?.inbox.seen ?? 0, 0);
      const { released } = await releaseLedger(ledger, { inboxSeq, ...turnForNext(turn) });
      if (released) return;
      await turn?.inbox.drain();
    }
  }
  // A run that is left as it was found still has other tasks behind it.
  if (turn !== undefined && ledger.failure === undefined) {
    const at = wakeAfter(ledger, app.telling, lane);
    const rest = isYielded(ledger, runId) ? restBefore(turn, at) : {};
    if (rest.turn !== undefined) {
      const { released } = await releaseLedger(ledger, { inboxSeq: turn.inbox.seen, ...rest });
      if (released) return;
    }
  }
  await releaseLedger(ledger);
}

function isYielded({ invocations }: Ledger, runId: string): boolean {
  return lastRecord(invocations, runId)?.status === 'yielded';
}

/**
 * Checks that the session needs another wake than the end of the run has left it: other lanes wait,
 * or detached work does.
 */
function needsWake(turn: Turn): boolean {
  const { lane, ledger, runId } = turn.run;
  const hasEnded = hasOutcome(ledger.invocations, runId);
  if (hasEnded && openLanes(ledger).some((other) => other !== lane)) return true;
  return hasOnlyYielded(turn);
}

/** Checks that a run had detached work, and that its root and this work have ended or wait. */
function hasOnlyYielded({ phase, run }: Turn): boolean {
  const { ledger } = run;
  if (!run.detached.wasAny) return false;
  if (openDetachedIn(ledger, run.lane).length > 0 && !run.detached.isReleased) return false;
  return hasOutcome(ledger.invocations, run.runId) || phase === 'yielded' || phase === 'detached';
}
