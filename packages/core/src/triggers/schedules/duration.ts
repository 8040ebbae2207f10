import { describeValue } from '../../base/options.ts';
import { InvalidTriggerError } from '../errors.ts';

/** A length of time: milliseconds, or a text such as `'90s'`, `'15m'`, `'2h'`, `'1d'`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

const shortestMs = unitMs.s;
/** Ten years: a longer interval is a mistake in the unit. */
const longestMs = 3_653 * unitMs.d;

/**
 * Returns the milliseconds of an interval between checks or firings.
 * @throws InvalidTriggerError for what is no length of time, or shorter than a second
 */
export function intervalMs(name: string, value: unknown): number {
  const ms = toMs(value);
  const fault =
    ms === undefined
      ? `must be milliseconds or a text such as '15m' (ms, s, m, h, d), not ${describeValue(value)}`
      : outOfRange(ms);
  if (fault !== undefined)
    throw new InvalidTriggerError({ function: name, reason: `the interval ${fault}` });
  return ms as number;
}

function outOfRange(ms: number): string | undefined {
  if (ms < shortestMs)
    return `of ${ms} ms is too short: it must be at least a second (a number is milliseconds)`;
  return ms > longestMs ? `of ${ms} ms is too long: it must be at most ten years` : undefined;
}

function toMs(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? value : undefined;
  if (typeof value !== 'string') return undefined;
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(value) ?? [];
  if (amount === undefined) return undefined;
  const ms = Number(amount) * unitMs[unit as keyof typeof unitMs];
  return Number.isInteger(ms) ? ms : undefined;
}
