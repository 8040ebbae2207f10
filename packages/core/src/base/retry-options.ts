import { defined } from './defined.ts';
import { isCount, isFlag, isNotNegative, isNumber, type OptionChecks } from './options.ts';

/**
 * Repetition of failed attempts. Every place that repeats something takes these options; the
 * defaults below hold where the place says nothing else.
 */
export interface RetryOptions {
  /** Attempts in all, the first one included. @default 3 */
  readonly attempts?: number;
  /** Milliseconds before the second attempt. @default 1_000 */
  readonly initialDelayMs?: number;
  /**
   * Most milliseconds between two attempts. A longer wait that the other side asks for is kept.
   * @default 30_000 for models and error routing, 60_000 for error handlers, else no limit
   */
  readonly maxDelayMs?: number;
  /** Factor from each delay to the next, at least 1. @default 2 */
  readonly multiplier?: number;
  /**
   * Waits a random part of each delay, so that callers that failed together do not come back
   * together. @default true for models, else false
   */
  readonly jitter?: boolean;
}

/** Retry options with the defaults filled in. */
export type ResolvedRetry = Required<RetryOptions>;

/** Defaults of every place that does not have its own. */
export const defaultRetry: ResolvedRetry = Object.freeze({
  attempts: 3,
  initialDelayMs: 1_000,
  maxDelayMs: Number.POSITIVE_INFINITY,
  multiplier: 2,
  jitter: false,
});

/** Checks of the retry options, the same at every place. */
export const retryChecks: OptionChecks<RetryOptions> = {
  attempts: isCount,
  initialDelayMs: isNotNegative,
  // The default of tools and effects, which resolved options may carry.
  maxDelayMs: (value) => (value === Number.POSITIVE_INFINITY ? undefined : isNotNegative(value)),
  multiplier: (value) =>
    isNumber(value) ?? ((value as number) >= 1 ? undefined : 'a number from 1'),
  jitter: isFlag,
};

/** Fills in the defaults, option by option. */
export function resolveRetry(
  { attempts, initialDelayMs, maxDelayMs, multiplier, jitter }: RetryOptions,
  defaults: ResolvedRetry = defaultRetry,
): ResolvedRetry {
  return Object.freeze({
    ...defaults,
    ...defined({ attempts, initialDelayMs, maxDelayMs, multiplier, jitter }),
  });
}

/**
 * Milliseconds to wait after a failed attempt, when the other side asks for no wait of its own.
 * @param failures failed attempts so far, from 1
 * @param draw draws a number in [0, 1) for the jitter; not called without jitter
 */
export function retryDelay(
  { initialDelayMs, maxDelayMs, multiplier, jitter }: Omit<ResolvedRetry, 'attempts'>,
  failures: number,
  draw: () => number,
): number {
  const longest = Math.min(maxDelayMs, initialDelayMs * multiplier ** (failures - 1));
  return jitter ? Math.round(draw() * longest) : longest;
}
