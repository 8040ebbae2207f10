import { checkOptions } from '../../base/invalid-option.ts';
import {
  isCount,
  isNonEmptyText,
  isNotNegative,
  isNumber,
  isOneOf,
  isPositive,
  type OptionChecks,
} from '../../base/options.ts';
import { type TaskPriority, taskPriorities } from '../../engine/tasks/priority.ts';

/** A task of the simulated load. Times are in milliseconds from the start. */
export interface SimulatedTask {
  /** Time at which it is submitted. */
  readonly at: number;
  /** Milliseconds that one round takes. */
  readonly roundMs: number;
  /** @default 1 */
  readonly rounds?: number;
  /** @default 'normal' */
  readonly priority?: TaskPriority;
  /** @default 'default' */
  readonly tenant?: string;
  /** @default 'system' */
  readonly requester?: string;
  /** Concurrency key with one place. @default none */
  readonly concurrencyKey?: string;
}

export const taskChecks: OptionChecks<SimulatedTask> = {
  at: isNotNegative,
  roundMs: isPositive,
  rounds: isCount,
  priority: isOneOf(...taskPriorities),
  tenant: isNonEmptyText,
  requester: isNonEmptyText,
  concurrencyKey: isNonEmptyText,
};

/** Load whose tasks come at random, each independent of the others. */
export interface RandomLoad extends Omit<SimulatedTask, 'at'> {
  /** Average number of tasks in an hour. */
  readonly perHour: number;
  /** @default 0 */
  readonly fromMs?: number;
  readonly untilMs: number;
  /** Number from which all random times follow. @default 1 */
  readonly seed?: number;
}

const loadChecks: OptionChecks<RandomLoad> = {
  perHour: isPositive,
  fromMs: isNotNegative,
  untilMs: isPositive,
  seed: isNumber,
  roundMs: isPositive,
  rounds: isCount,
  priority: isOneOf(...taskPriorities),
  tenant: isNonEmptyText,
  requester: isNonEmptyText,
  concurrencyKey: isNonEmptyText,
};

/**
 * Makes tasks that come as a Poisson process. The time that each takes is spread around `roundMs`
 * by an exponential distribution, as the durations of model calls are long-tailed.
 * @throws InvalidOptionError
 */
export function poissonArrivals(load: RandomLoad): readonly SimulatedTask[] {
  checkOptions('poissonArrivals', load, loadChecks);
  const { perHour, fromMs = 0, untilMs, seed = 1, ...task } = load;
  const next = randomNumbers(seed);
  const tasks: SimulatedTask[] = [];
  for (let at = fromMs + exponential(next(), 3_600_000 / perHour); at < untilMs; ) {
    tasks.push({ ...task, at, roundMs: Math.max(1, exponential(next(), task.roundMs)) });
    at += exponential(next(), 3_600_000 / perHour);
  }
  return tasks;
}

/**
 * Makes tasks that all come at once, such as those of a tenant that floods the queue.
 * @throws InvalidOptionError
 */
export function burstOfArrivals(
  task: SimulatedTask,
  { count }: { readonly count: number },
): readonly SimulatedTask[] {
  checkOptions('burstOfArrivals', task, taskChecks);
  checkOptions('burstOfArrivals', { count }, { count: isCount });
  return Array.from({ length: count }, () => task);
}

function exponential(random: number, mean: number): number {
  return -Math.log(1 - random) * mean;
}

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
