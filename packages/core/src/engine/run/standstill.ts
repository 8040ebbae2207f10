import { belongsTo } from '../../ledger/path.ts';
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
