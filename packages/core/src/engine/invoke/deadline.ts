import type { Activity } from '../frame/activity.ts';
import type { RunContext } from '../frame/run-context.ts';

/**
 * Calls `fire` when the deadline is over. The time in which everything waits does not count.
 * Returns a function that disarms it.
 */
export function armDeadline(
  run: RunContext,
  deadline: number | undefined,
  activity: Activity,
  fire: () => void,
): () => void {
  if (deadline === undefined) return () => undefined;
  const { ledger } = run;
  const { clock } = run.app;
  let left = deadline - clock.now();
  let since = 0;
  let cancel: () => void = () => undefined;
  let forgetDrafts: (() => void) | undefined;
  const arm = (): void => {
    forgetDrafts?.();
    forgetDrafts = undefined;
    since = clock.now();
    cancel = clock.setTimer(left, fire);
  };
  activity.onWait = () => {
    if (forgetDrafts !== undefined || !activity.isWaiting) return;
    cancel();
    left -= clock.now() - since;
    // Each end of a wait is an event.
    forgetDrafts = ledger.onDraft(() => (activity.isWaiting ? undefined : arm()));
  };
  arm();
  return () => {
    cancel();
    forgetDrafts?.();
    activity.onWait = undefined;
  };
}
