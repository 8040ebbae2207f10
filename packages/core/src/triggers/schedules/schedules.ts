import { describeValue, isNonEmptyText, isNotNegative, isObject } from '../../base/options.ts';
import { checkTriggerOptions, InvalidTriggerError } from '../errors.ts';
import { cronFault } from './cron-pattern.ts';
import { type Duration, intervalMs } from './duration.ts';
import type { CronSchedule, IntervalSchedule, OnceSchedule, Schedule } from './schedule.ts';
import { instantOfText, latestInstant } from './text-instant.ts';
import { zoneFault } from './zone.ts';

/** Options of `cron`. */
export interface CronOptions {
  /** Zone of the pattern's times, by its IANA name such as `Europe/Berlin`. Default `UTC`. */
  readonly timeZone?: string | undefined;
}

/**
 * Fires by a cron pattern of five fields (minute, hour, day of the month, month, day of the week),
 * or of six with seconds in front. Names (`mon`, `jan`), `L`, `W`, `#` and `@daily` are understood;
 * when both days are given, either of them will do.
 *
 * A local time that does not exist on the day of a change fires at the first instant that does; one
 * that comes twice fires the first time. A pattern that fits in every hour follows elapsed time.
 * @throws InvalidTriggerError for a pattern that cannot be read or never fires, or an unknown zone
 */
export function cron(pattern: string, options: CronOptions = {}): CronSchedule {
  checkTriggerOptions<CronOptions>('cron', options, { timeZone: isNonEmptyText });
  const { timeZone = 'UTC' } = options;
  if (typeof pattern !== 'string')
    throw refusal('cron', `the pattern must be a string, not ${describeValue(pattern)}`);
  const fault = cronFault(pattern) ?? zoneFault(timeZone);
  if (fault !== undefined) throw refusal('cron', fault);
  return { kind: 'cron', pattern, timeZone };
}

/** Options of `every`. */
export interface EveryOptions {
  /**
   * Largest delay of a firing in milliseconds, at most the interval. Each firing has its own, which
   * its trigger and its instant determine, so that many triggers do not fire at once. Default 0.
   */
  readonly jitterMs?: number | undefined;
}

/**
 * Fires at equal distances, counted from when the trigger began: `every('15m')`, `every(900_000)`.
 * Changes of clocks do not matter; `every('1d')` is 24 hours.
 * @throws InvalidTriggerError for an interval shorter than a second, or a jitter longer than it
 */
export function every(interval: Duration, options: EveryOptions = {}): IntervalSchedule {
  const everyMs = intervalMs('every', interval);
  checkTriggerOptions<EveryOptions>('every', options, { jitterMs: isNotNegative });
  const { jitterMs = 0 } = options;
  if (jitterMs > everyMs)
    throw refusal('every', `\`jitterMs\` (${jitterMs}) must be at most the interval (${everyMs})`);
  return { kind: 'every', everyMs, jitterMs };
}

/** Options of `at`. */
export interface AtOptions {
  /** Zone of a text without one, by its IANA name. */
  readonly timeZone?: string | undefined;
}

/**
 * Fires once: `at(new Date(…))`, `at('2027-06-01T15:00+02:00')`, or with a local time
 * `at('2027-06-01T15:00', { timeZone: 'Europe/Berlin' })`.
 * @throws InvalidTriggerError for what is no instant, or a text that names no zone
 */
export function at(instant: Date | string | number, options: AtOptions = {}): OnceSchedule {
  checkTriggerOptions<AtOptions>('at', options, { timeZone: isNonEmptyText });
  const { timeZone } = options;
  if (timeZone !== undefined) {
    const fault = zoneFault(timeZone) ?? zoneOfNoText(instant);
    if (fault !== undefined) throw refusal('at', fault);
  }
  const found = epochOf(instant, timeZone);
  if (typeof found === 'string') throw refusal('at', found);
  return { kind: 'at', instant: found };
}

function zoneOfNoText(instant: unknown): string | undefined {
  return typeof instant === 'string' ? undefined : '`timeZone` is only for an instant as text';
}

/** Returns the epoch milliseconds of an instant, or its fault. */
function epochOf(instant: unknown, timeZone: string | undefined): number | string {
  if (typeof instant === 'string') return instantOfText(instant, timeZone);
  const epoch = instant instanceof Date ? instant.getTime() : instant;
  if (typeof epoch !== 'number')
    return `it must be a Date, a text or epoch milliseconds, not ${describeValue(instant)}`;
  if (!Number.isFinite(epoch)) return 'the instant is no date';
  return epoch < 0 || epoch > latestInstant
    ? `the instant ${epoch} is not between the years 1970 and 9999`
    : Math.floor(epoch);
}

/**
 * Checks a schedule that came as JSON, from a request or a ledger, and returns it.
 * @throws InvalidTriggerError for what `cron`, `every` or `at` would refuse
 */
export function scheduleOf(value: unknown): Schedule {
  const found: Partial<Record<string, unknown>> =
    isObject(value) === undefined ? { ...(value as object) } : {};
  const { kind, ...rest } = found;
  switch (kind) {
    case 'cron': {
      const { pattern, ...options } = rest;
      return cron(pattern as string, options);
    }
    case 'every': {
      const { everyMs, ...options } = rest;
      return every(everyMs as number, options);
    }
    case 'at': {
      const { instant, ...options } = rest;
      return at(instant as number, options);
    }
    default:
      throw refusal(
        'scheduleOf',
        `the schedule must have the \`kind\` 'cron', 'every' or 'at', not ${describeValue(kind)}`,
      );
  }
}

function refusal(name: string, reason: string): InvalidTriggerError {
  return new InvalidTriggerError({ function: name, reason });
}
