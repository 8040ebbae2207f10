import type { InstantSource } from '../schedules/instant-source.ts';
import { jitterOf, type TriggerInstant } from '../schedules/next-instant.ts';
import type { Schedule } from '../schedules/schedule.ts';

/** Most firings of one wake; older ones are left out. */
export const mostAtOnce = 100;

/** Instants that are due and were not considered. */
export interface DueInstants {
  readonly count: number;
  /** The newest, at most 100, ascending. */
  readonly newest: readonly TriggerInstant[];
}

/** Returns the instants after the last considered one whose firing is due. */
export function dueInstants(
  schedule: Schedule,
  source: InstantSource,
  asked: { readonly considered: number; readonly now: number; readonly triggerId: string },
): DueInstants {
  const { considered, now, triggerId } = asked;
  // A jitter is at most the interval, so that at most the last two wait for theirs.
  const latest = source
    .newest(mostAtOnce + 2, considered, now)
    .map((instant) => ({ instant, firesAt: instant + jitterOf(schedule, triggerId, instant) }));
  const due = latest.filter(({ firesAt }) => firesAt <= now);
  const count = source.count(considered, now) - (latest.length - due.length);
  return { count, newest: due.slice(-mostAtOnce) };
}
