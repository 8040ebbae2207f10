import { checkOptions } from '../../base/invalid-option.ts';
import {
  isCount,
  isFunction,
  isGroup,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';
import { checkPrograms, runnableNames } from './check-programs.ts';
import { checkedSeed } from './checked-seed.ts';
import { type FaultRates, usualRates } from './faults.ts';
import type { MakeApp } from './machine-room.ts';
import type { SimulatedProgram } from './people.ts';
import { shorterStory } from './shorter-story.ts';
import type { SeedOutcome } from './simulate-seed.ts';
import { type SimulationReport, Tally } from './tally.ts';

export interface SimulateOptions {
  /** Runs that people ask for. A function makes those of each seed. */
  readonly programs: readonly SimulatedProgram[] | ((seed: number) => readonly SimulatedProgram[]);
  /**
   * Probabilities of faults, by kind. Each seed has a part of the kinds.
   * @default `usualRates`
   */
  readonly faults?: FaultRates;
  /** Simulated hours of all seeds together. @default 100 */
  readonly hours?: number;
  /** Simulated hours of one seed. @default 10 */
  readonly hoursPerSeed?: number;
  /** First seed: the others follow it. @default 1 */
  readonly seed?: number;
  /** Number of machines that share the store. @default 3 */
  readonly machines?: number;
  /** Called after each seed. */
  readonly onSeed?: (outcome: SeedOutcome) => void;
}

const isProbability: OptionCheck = (value) =>
  typeof value === 'number' && value >= 0 && value <= 1 ? undefined : 'a number from 0 to 1';

const checks: OptionChecks<SimulateOptions> = {
  programs: (value) =>
    Array.isArray(value) || typeof value === 'function'
      ? undefined
      : 'a list of programs, or a function that makes it',
  faults: isGroup(
    Object.fromEntries(
      Object.keys(usualRates).map((kind) => [kind, isProbability]),
    ) as OptionChecks<FaultRates>,
  ),
  hours: isCount,
  hoursPerSeed: isCount,
  seed: isCount,
  machines: isCount,
  onSeed: isFunction,
};

/**
 * Simulates an app: many processes of the real runtime in one thread, on simulated time, over a
 * simulated network, with faults that a seed draws. Each seed is run twice, and both must go the
 * same way. Programs that no fault of a model, a tool or a person has touched must end as they do
 * without any fault.
 *
 * Models must be scripted ones. Tools and steps use `ctx` alone: no timers, clocks or randomness of
 * their own, and nothing that is kept outside the app.
 *
 * @param makeApp makes the options of the app for a process, with runnables made anew
 * @throws InvalidOptionError, RealModelForbiddenError
 * @example
 * ```ts
 * import { agent, tool } from 'adjutant';
 * import { roundModel, simulate } from 'adjutant/testing';
 *
 * const makeApp = () => {
 *   const pay = tool({
 *     name: 'pay',
 *     description: 'Pays a bill',
 *     schema: { type: 'object' },
 *     execute: () => 'paid',
 *   });
 *   const clerk = agent({
 *     name: 'clerk',
 *     model: roundModel([{ toolCalls: [{ name: 'pay', args: {} }] }, { text: 'Paid.' }]),
 *     tools: [pay],
 *   });
 *   return { app: 'bills', runnables: [clerk] };
 * };
 * const report = await simulate(makeApp, {
 *   programs: [{ run: 'clerk', input: 'Pay bill 17.' }],
 *   hours: 4,
 *   hoursPerSeed: 2,
 * });
 * console.log(report.failures.length); // 0
 * ```
 */
export async function simulate(
  makeApp: MakeApp,
  options: SimulateOptions,
): Promise<SimulationReport> {
  // `null` stands for what is missing, because the check ignores `undefined`.
  checkOptions(
    'simulate',
    { ...options, makeApp: makeApp ?? null, programs: options?.programs ?? null },
    { ...checks, makeApp: isFunction },
  );
  const names = await runnableNames(makeApp);
  const { hours = 100, hoursPerSeed = 10, seed: first = 1, onSeed } = options;
  const tally = new Tally();
  const count = Math.max(1, Math.ceil(hours / hoursPerSeed));
  for (let seed = first; seed < first + count; seed++) {
    const { faults: rates = usualRates, machines = 3, programs } = options;
    const made = typeof programs === 'function' ? programs(seed) : programs;
    checkPrograms(made, names);
    const given = { seed, hours: hoursPerSeed, machines, rates, programs: made, makeApp };
    const checked = await checkedSeed(given);
    const { outcome } = checked;
    tally.add(checked, made);
    if (outcome.broken.length > 0) tally.failures.push(await shorterStory(given, outcome));
    onSeed?.(outcome);
  }
  return tally.report;
}
