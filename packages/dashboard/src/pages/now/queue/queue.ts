import type { ServerTask } from '@adjutant/server/client';

/** Milliseconds of the past that the line of the depth shows. */
export const historyMs = 10 * 60_000;

type TimedTask = Pick<ServerTask, 'submittedAt' | 'startedAt' | 'completedAt'>;

/**
 * Returns how many tasks waited for their first turn, at instants of the last ten minutes. Tasks
 * say when they began, so nothing has to be watched for that.
 */
export function depthOverTime(
  tasks: readonly TimedTask[],
  now: number,
  points = 41,
): readonly number[] {
  return Array.from({ length: points }, (_, i) => {
    const at = now - historyMs + (i * historyMs) / (points - 1);
    return tasks.filter(
      ({ submittedAt, startedAt, completedAt }) =>
        submittedAt <= at && (startedAt ?? completedAt ?? Number.POSITIVE_INFINITY) > at,
    ).length;
  });
}

/** Returns the tasks that ran and are queued again: others have gone before them. */
export function preempted(
  before: readonly Pick<ServerTask, 'id' | 'state'>[],
  after: readonly Pick<ServerTask, 'id' | 'state'>[],
): readonly string[] {
  const ran = new Set(before.filter(({ state }) => state === 'running').map(({ id }) => id));
  return after.filter(({ id, state }) => state === 'queued' && ran.has(id)).map(({ id }) => id);
}

/** Returns a line through values, from the left to the right of a box. */
export function sparkline(values: readonly number[], width: number, height: number): string {
  const most = Math.max(1, ...values);
  return values
    .map((value, i) => {
      const x = (i * width) / Math.max(1, values.length - 1);
      const y = height - (value / most) * height;
      return `${i === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`;
    })
    .join('');
}
