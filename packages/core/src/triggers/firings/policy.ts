import { isCount, isNotNegative, isOneOf } from '../../base/options.ts';
import type { TriggerOn } from '../declarations/trigger-on.ts';
import { checkTriggerOptions, InvalidTriggerError } from '../errors.ts';
import { instantsOf } from '../schedules/instants.ts';
import type { Schedule } from '../schedules/schedule.ts';
import type { OverlapPolicy } from './overlap.ts';

/**
 * Fate of firings that could not be in time, as after an outage.
 * - `skip`: none of them fires.
 * - `once`: one fires, and says how many it stands for.
 * - `all`: they fire one after another, at most the newest 100.
 */
export type MissedPolicy = 'skip' | 'once' | 'all';

/** Treatment of the firings of a trigger. */
export interface FiringOptions {
  /** Fate of missed firings of a schedule. Default `once`. */
  readonly missed?: MissedPolicy | undefined;
  /**
   * Milliseconds after which a firing of a schedule is late, and so missed. Default: the distance
   * to the next instant, at most 60,000.
   */
  readonly toleranceMs?: number | undefined;
  /** Fate of a firing while the work of an earlier one goes on. Default `skip`. */
  readonly overlap?: OverlapPolicy | undefined;
  /** Most firings in an hour; more are dropped. Default 600. */
  readonly mostPerHour?: number | undefined;
}

/** Options with their defaults. */
export interface FiringPolicy {
  readonly missed: MissedPolicy;
  readonly toleranceMs?: number | undefined;
  readonly overlap: OverlapPolicy;
  readonly mostPerHour: number;
}

const hourMs = 3_600_000;

/**
 * Checks the options of a trigger, and fills in the defaults.
 * @throws InvalidTriggerError for an option that cannot be so, or does not belong to what the
 * trigger fires on, and a schedule that fires more often than the options allow
 */
export function firingPolicy(on: TriggerOn, options: FiringOptions = {}): FiringPolicy {
  checkTriggerOptions<FiringOptions>('firingPolicy', options, {
    missed: isOneOf('skip', 'once', 'all'),
    toleranceMs: isNotNegative,
    overlap: isOneOf('skip', 'queue', 'coalesce', 'cancel_previous'),
    mostPerHour: isCount,
  });
  const { missed = 'once', toleranceMs, overlap = 'skip', mostPerHour = 600 } = options;
  const fault = faultOf(on, options, mostPerHour);
  if (fault !== undefined)
    throw new InvalidTriggerError({ function: 'firingPolicy', reason: fault });
  return { missed, ...(toleranceMs === undefined ? {} : { toleranceMs }), overlap, mostPerHour };
}

function faultOf(on: TriggerOn, options: FiringOptions, mostPerHour: number): string | undefined {
  const { missed, toleranceMs } = options;
  if (on.kind === 'cron' || on.kind === 'every' || on.kind === 'at')
    return firesMoreOften(on, mostPerHour)
      ? `the schedule fires more often than \`mostPerHour\` (${mostPerHour}) allows: give it a ` +
          'larger number, or let it fire less often'
      : undefined;
  return missed === undefined && toleranceMs === undefined
    ? undefined
    : `\`missed\` and \`toleranceMs\` are for schedules, and this fires on: ${on.kind}`;
}

function firesMoreOften(schedule: Schedule, mostPerHour: number): boolean {
  const source = instantsOf(schedule, 0);
  const first = source.next(0);
  // The first instant begins an hour of the pattern, and all of its hours are alike.
  return first !== undefined && source.count(first - 1, first - 1 + hourMs) > mostPerHour;
}
