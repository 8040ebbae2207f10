import { systemClock } from '../../base/clock.ts';
import type { TestClock } from '../../base/clocks/test-clock.ts';
import { AdjutantError } from '../../base/error.ts';
import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import {
  describeValue,
  isNonEmptyText,
  isPositive,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';

export interface EventuallyOptions {
  /**
   * Name of the condition, for the message when it does not come.
   * @default 'the condition'
   */
  readonly what?: string;
  /**
   * A clock on which time passes during the wait, so that delays and timeouts cost no real time.
   * @default none
   */
  readonly clock?: TestClock;
  /** Milliseconds that pass on the clock in each turn of the event loop. @default 100 */
  readonly stepMs?: number;
  /**
   * Real milliseconds after which the wait fails.
   * @default 10_000
   */
  readonly patienceMs?: number;
}

/** Error of a wait whose condition did not come. */
export class NeverHappenedError extends AdjutantError {
  constructor(data: { what: string; patienceMs: number }) {
    super('never_happened', `${data.what} has not come within ${data.patienceMs} ms.`, data);
  }
}

const isClock: OptionCheck = (value) =>
  typeof (value as Partial<TestClock> | null)?.advance === 'function'
    ? undefined
    : 'a clock such as testClock()';
const checks: OptionChecks<EventuallyOptions> = {
  what: isNonEmptyText,
  clock: isClock,
  stepMs: isPositive,
  patienceMs: isPositive,
};

/**
 * Turns of the event loop after which it pauses for a moment: answers from outside may take long.
 */
const busyTurns = 200;

/**
 * Turns the event loop until a condition holds, or a promise is settled, without sleeping. With
 * `clock`, time passes on it during the wait.
 * @returns the value of the promise
 * @throws NeverHappenedError, InvalidOptionError, and the error of the condition or the promise
 */
export function eventually<Value>(
  awaited: PromiseLike<Value>,
  options?: EventuallyOptions,
): Promise<Value>;
export function eventually(awaited: () => boolean, options?: EventuallyOptions): Promise<void>;
export async function eventually<Value>(
  awaited: PromiseLike<Value> | (() => boolean),
  options: EventuallyOptions = {},
): Promise<Value | undefined> {
  checkOptions('eventually', options, checks);
  if (typeof awaited === 'function') {
    await turnUntil(awaited, options);
    return undefined;
  }
  if (typeof (awaited as Partial<PromiseLike<Value>> | null)?.then !== 'function')
    throw new InvalidOptionError({
      function: 'eventually',
      reason: `it waits for a condition or a promise, not ${describeValue(awaited)}`,
    });
  let isSettled = false;
  const settled = (): void => {
    isSettled = true;
  };
  awaited.then(settled, settled);
  await turnUntil(() => isSettled, { what: 'the end of the promise', ...options });
  return await awaited;
}

async function turnUntil(
  holds: () => boolean,
  { what = 'the condition', clock, stepMs = 100, patienceMs = 10_000 }: EventuallyOptions,
): Promise<void> {
  const began = systemClock.monotonic();
  for (let turns = 1; !holds(); turns++) {
    if (systemClock.monotonic() - began > patienceMs)
      throw new NeverHappenedError({ what, patienceMs });
    clock?.advance(stepMs);
    await (turns % busyTurns === 0 ? pause() : turn());
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function pause(): Promise<void> {
  return new Promise((resolve) => systemClock.setTimer(1, resolve));
}
