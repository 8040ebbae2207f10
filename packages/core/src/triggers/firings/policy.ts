import { isCount, isNotNegative, isOneOf } from '../../base/options.ts';
import { checkTriggerOptions, InvalidTriggerError } from '../errors.ts';
import { nextInstants } from '../schedules/next-instant.ts';
import type { Schedule } from '../schedules/schedule.ts';

/**
 * Fate of firings that could not be in time, as after an outage.
 * - `skip`: none of them fires.
 * - `once`: one fires, and says how many it stands for.
 * - `all`: they fire one after another, at most the newest 100.
 */
export type MissedPolicy = 'skip' | 'once' | 'all';

/** Treatment of the due instants of a trigger. */
export interface FiringOptions {
  /** Fate of missed firings. Default `once`. */
  readonly missed?: MissedPolicy | undefined;
  /**
   * Milliseconds after which a firing is late, and so missed. Default: the distance to the next
   * instant, at most 60,000.
   */
  readonly toleranceMs?: number | undefined;
  /** Most firings in an hour; more are dropped. Default 600. */
  readonly mostPerHour?: number | undefined;
}

/** Options with their defaults. */
export interface FiringPolicy {
  readonly missed: MissedPolicy;
  readonly toleranceMs?: number | undefined;
  readonly mostPerHour: number;
}

const hourMs = 3_600_000;
const longestPreview = 1_000;

/**
 * Checks the options of a trigger with a schedule, and fills in the defaults.
 * @throws InvalidTriggerError for an option that cannot be so, and a schedule that fires more often
 * than the options allow
 */
export function firingPolicy(schedule: Schedule, options: FiringOptions = {}): FiringPolicy {
  checkTriggerOptions<FiringOptions>('firingPolicy', options, {
    missed: isOneOf('skip', 'once', 'all'),
    toleranceMs: isNotNegative,
    mostPerHour: isCount,
  });
  const { missed = 'once', toleranceMs, mostPerHour = 600 } = options;
  if (firesMoreOften(schedule, mostPerHour))
    throw new InvalidTriggerError({
      function: 'firingPolicy',
      reason:
        `the schedule fires more often than \`mostPerHour\` (${mostPerHour}) allows: give it a ` +
        'larger number, or let it fire less often',
    });
  return { missed, ...(toleranceMs === undefined ? {} : { toleranceMs }), mostPerHour };
}

function firesMoreOften(schedule: Schedule, mostPerHour: number): boolean {
  if (schedule.kind === 'every') return hourMs / schedule.everyMs > mostPerHour;
  if (schedule.kind === 'at' || mostPerHour >= longestPreview) return false;
  // The first instant begins an hour of the pattern, and all of its hours are alike.
  const found = nextInstants(schedule, { from: 0, count: mostPerHour + 1 });
  const [first = 0] = found;
  const last = found[mostPerHour];
  return last !== undefined && last - first < hourMs;
}
