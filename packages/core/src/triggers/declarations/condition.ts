import type { JsonValue } from '../../base/json.ts';
import { describeValue, isAnything } from '../../base/options.ts';
import { checkTriggerOptions, InvalidTriggerError } from '../errors.ts';
import { type Duration, intervalMs } from '../schedules/duration.ts';
import type { IntervalSchedule } from '../schedules/schedule.ts';

/** Finding of a condition: whether it is met, and with what was seen if that helps a reader. */
export type ConditionFinding =
  | boolean
  | { readonly met: boolean; readonly saw?: JsonValue | undefined };

/** Looks whether a condition is met. */
export type ConditionFunction = (context: {
  readonly signal: AbortSignal;
}) => ConditionFinding | Promise<ConditionFinding>;

/** Fires when a condition comes true. Made by `condition`. */
export interface ConditionTrigger {
  readonly kind: 'condition';
  readonly check: ConditionFunction;
  /** When the condition is checked. */
  readonly checks: IntervalSchedule;
}

/** Options of `condition`. */
export interface ConditionOptions {
  /** Distance between two checks: `'5m'`, or milliseconds. */
  readonly every: Duration;
}

/**
 * Fires when a check finds its condition met that was not met before:
 * `condition(isCheap, { every: '10m' })`. A check must not change anything.
 * @throws InvalidTriggerError for a check that is no function, or an interval under a second
 */
export function condition(check: ConditionFunction, options: ConditionOptions): ConditionTrigger {
  if (typeof check !== 'function') {
    const reason = `the check must be a function, not ${describeValue(check)}`;
    throw new InvalidTriggerError({ function: 'condition', reason });
  }
  // Checked here as an option that exists, and below as a length of time.
  checkTriggerOptions<ConditionOptions>('condition', options, { every: isAnything });
  const everyMs = intervalMs('condition', options.every);
  return { kind: 'condition', check, checks: { kind: 'every', everyMs, jitterMs: 0 } };
}
