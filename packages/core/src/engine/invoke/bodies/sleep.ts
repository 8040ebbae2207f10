import { shortestReleaseMs, sleepsUntil } from '../../../ledger/folds/sleeps.ts';
import type { BodyEnd } from '../../frame/invocation.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { sleepUntil } from '../../frame/sleep-until.ts';
import { cancelledEnd, isReleased } from '../invoke.ts';

/** Waits for the recorded instant of a sleep. A run that only sleeps is released meanwhile. */
export async function runSleep(frame: BodyFrame): Promise<BodyEnd | undefined> {
  const { run, record, scope, activity } = frame;
  const { clock } = run.app;
  const until = sleepsUntil(record.input);
  const isLong = (): boolean => until - clock.now() >= shortestReleaseMs;
  activity.judgeBy(() => (isLong() ? 'waiting' : 'busy'), 'sleep');
  if (isLong()) activity.reportWait();
  // A timer may be early by the clock of the store.
  while (!scope.aborted && clock.now() < until) await sleepUntil(frame, until);
  activity.judgeBy(() => 'busy');
  if (!scope.aborted) return { status: 'completed' };
  return isReleased(run, scope) ? undefined : cancelledEnd(scope);
}
