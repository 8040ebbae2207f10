import { isDecision } from '../../ledger/decisions/decision.ts';
import { lastRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { belongsTo, isRootOf } from '../../ledger/path.ts';
import type { RunContext } from '../frame/run-context.ts';
import type { RunRequest } from './run-request.ts';

/**
 * Releases the run when everything in it waits or is paused. Releases its detached work
 * when the root does not work and all detached work waits.
 */
export function releaseWhenWaiting(run: RunContext): void {
  const { activity, detached } = run;
  let isScheduled = false;
  const look = (): void => {
    isScheduled = false;
    if (!run.scope.aborted && activity.hasChildren && activity.isWaiting)
      run.release.becauseItWaits();
    // While the root works, answers for its detached work can be taken in here.
    const rootIsIdle = run.scope.aborted || !activity.hasChildren;
    if (
      rootIsIdle &&
      !detached.scope.aborted &&
      detached.activity.hasChildren &&
      detached.activity.isWaiting
    )
      detached.releaseBecauseItWaits();
  };
  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    // Code that is about to begin something needs its turn first.
    run.ledger.ports.host.afterTurn(look);
  };
  activity.onWait = schedule;
  detached.activity.onWait = schedule;
}

/** Pauses a run after one round, or after a slice of time: nothing new begins then. */
export function pauseAfter(
  run: RunContext,
  { until, sliceMs }: Pick<RunRequest, 'until' | 'sliceMs'>,
): void {
  if (until === 'round') {
    const forget = run.ledger.onDraft((event) => {
      if (
        event.type !== 'model_end' ||
        event.status !== 'completed' ||
        !belongsTo(event.invocationId, run.runId)
      )
        return;
      forget();
      run.gate.close('round');
    });
    run.onEnd(forget);
  }
  if (sliceMs !== undefined)
    run.onEnd(run.app.clock.setTimer(sliceMs, () => run.gate.close('slice')));
}

/**
 * Checks that a run has not yielded since its pause, because its process stopped before. A run that
 * ended before it yielded owes nothing any more: people who reopen it let it go on.
 */
function isPausePending({ events, invocations }: Ledger, runId: string): boolean {
  const root = lastRecord(invocations, runId);
  if (root === undefined || root.status === 'yielded') return false;
  const last = events.findLast(
    (event) =>
      (event.type === 'invocation_yield' &&
        event.reason === 'pause' &&
        isRootOf(event.invocationId, runId)) ||
      (event.type === 'invocation_reopen' && isRootOf(event.invocationId, runId)) ||
      (isDecision(event, 'run', 'pause') && event.invocationId === runId) ||
      (event.type === 'invocation_start' && event.invocationId === runId),
  );
  return last?.type === 'decision';
}

/**
 * Keeps a paused run paused in its next process, as its ledger says. A person lets it go on, and
 * the yield that it owes is recorded first: another process would take the pause for a new one.
 */
export function keepPaused(
  { gate, ledger, runId }: RunContext,
  { isWorker = false }: Pick<RunRequest, 'isWorker'>,
): void {
  const root = lastRecord(ledger.invocations, runId);
  const isPaused = root?.status === 'yielded' && root.yielded === 'pause';
  const isPending = isPausePending(ledger, runId);
  if (isWorker && (isPaused || isPending)) gate.close('pause');
  else if (isPending && root !== undefined)
    ledger.append([
      {
        type: 'invocation_yield',
        by: 'runtime',
        invocationId: root.path,
        reason: 'pause',
        late: true,
      },
    ]);
}
