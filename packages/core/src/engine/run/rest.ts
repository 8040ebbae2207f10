import { belongsTo } from '../../ledger/path.ts';
import type { RunContext } from '../frame/run-context.ts';
import type { RunRequest } from './run-request.ts';

/**
 * Releases the run when everything in it waits for an answer or is held. Releases its detached work
 * when the root does not work and all detached work waits.
 */
export function watchForRest(run: RunContext): void {
  const { activity, detachedActivity } = run;
  let isScheduled = false;
  const look = (): void => {
    isScheduled = false;
    if (!run.scope.aborted && activity.hasChildren && activity.isWaiting) run.park();
    // While the root works, answers for its detached work can be taken in here.
    const rootIsIdle = run.scope.aborted || !activity.hasChildren;
    if (
      rootIsIdle &&
      !run.detachedScope.aborted &&
      detachedActivity.hasChildren &&
      detachedActivity.isWaiting
    )
      run.parkDetached();
  };
  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    // Code that is about to begin something needs its turn first.
    run.ledger.ports.host.afterTurn(look);
  };
  activity.onRest = schedule;
  detachedActivity.onRest = schedule;
}

/** Limits a run to one round, or to the work that it can begin within a slice of time. */
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
