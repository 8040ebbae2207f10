import { afterThisTurn } from '../../base/clock.ts';
import { belongsTo } from '../../ledger/path.ts';
import type { RunContext } from '../frame/run-context.ts';
import type { RunRequest } from './execute-run.ts';

/**
 * Ends the turn when everything of the run waits for somebody outside, or is not to begin anything
 * more.
 */
export function watchForRest(run: RunContext): void {
  const { activity, detachedActivity } = run;
  let isScheduled = false;
  const look = (): void => {
    isScheduled = false;
    if (!run.scope.aborted && activity.hasChildren && activity.isWaiting) run.park();
    // As long as the root goes on, what it dispatched can be answered here.
    const rootRests = run.scope.aborted || !activity.hasChildren;
    if (
      rootRests &&
      !run.detachedScope.aborted &&
      detachedActivity.hasChildren &&
      detachedActivity.isWaiting
    )
      run.parkDetached();
  };
  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    // What is about to begin something must have had its turn.
    afterThisTurn(look);
  };
  activity.onRest = schedule;
  detachedActivity.onRest = schedule;
}

/** Lets a run do no more than a round, or than it can begin in a slice of time. */
export function closeGateAfter(
  run: RunContext,
  { until, slice }: Pick<RunRequest, 'until' | 'slice'>,
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
  if (slice !== undefined) run.onEnd(run.app.clock.setTimer(slice, () => run.gate.close('slice')));
}
