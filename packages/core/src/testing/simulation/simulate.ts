import { defined } from '../../base/defined.ts';
import { checkOptions } from '../../base/invalid-option.ts';
import {
  describeValue,
  isCount,
  isFunction,
  isGroup,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';
import { checkedSeed } from './checked-seed.ts';
import { checkEventsOfPeople, type SimulatedEvent } from './events/simulated-event.ts';
import { type FaultRates, usualRates } from './faults.ts';
import type { MakeApp } from './machine-room.ts';
import { refuse, runnableNames } from './options/check-app.ts';
import { checkPrograms } from './options/check-programs.ts';
import { shorterStory } from './report/shorter-story.ts';
import { type SimulationReport, Tally } from './report/tally.ts';
import type { SeedOutcome, SimulatedEnd } from './simulate-seed.ts';
import type { SimulatedProgram } from './simulated-program.ts';

export interface SimulateOptions<Outside = undefined> {
  /** Runs that people ask for. A function makes those of each seed. */
  readonly programs: readonly SimulatedProgram[] | ((seed: number) => readonly SimulatedProgram[]);
  /** Events that people publish, by which triggers of the app fire. @default none */
  readonly events?: readonly SimulatedEvent[];
  /**
   * Probabilities of faults, by kind. Each seed has a part of the kinds.
   * @default `usualRates`
   */
  readonly faults?: FaultRates;
  /**
   * Simulated hours of all seeds together, rounded up to whole seeds. @default 100, or
   * `hoursPerSeed` if that is more
   */
  readonly hours?: number;
  /** Simulated hours of one seed. @default 10, or `hours` if that is less */
  readonly hoursPerSeed?: number;
  /** First seed: the others follow it. @default 1 */
  readonly seed?: number;
  /** Number of machines that share the store. @default 3 */
  readonly machines?: number;
  /**
   * Makes doubles of the world outside, such as a bank. They are made anew for each run of a seed.
   * All processes of the run share them and get them in `makeApp`: they outlive a crash.
   */
  readonly outside?: () => Outside;
  /**
   * Checks the end of each run, with and without faults: how often the bank has paid, for example.
   * What it throws breaks the rule `at_end`.
   */
  readonly atEnd?: (end: SimulatedEnd<Outside>) => void | Promise<void>;
  /** Called after each seed. */
  readonly onSeed?: (outcome: SeedOutcome) => void;
}

/** Seeds are 32 bits long: larger ones would repeat the stories of smaller ones. */
const largestSeed = 2 ** 32 - 1;
const most = { hours: 100_000_000, hoursPerSeed: 10_000, machines: 100 };

const upTo =
  (largest: number): OptionCheck =>
  (value) =>
    isCount(value) === undefined && (value as number) <= largest
      ? undefined
      : `a whole number from 1 to ${largest}`;

const isProbability: OptionCheck = (value) =>
  typeof value === 'number' && value >= 0 && value <= 1 ? undefined : 'a number from 0 to 1';

const checks: OptionChecks<SimulateOptions<unknown>> = {
  programs: (value) =>
    Array.isArray(value) || typeof value === 'function'
      ? undefined
      : 'a list of programs, or a function that makes it',
  events: (value) => (Array.isArray(value) ? undefined : 'a list of events'),
  faults: isGroup(
    Object.fromEntries(
      Object.keys(usualRates).map((kind) => [kind, isProbability]),
    ) as OptionChecks<FaultRates>,
  ),
  hours: upTo(most.hours),
  hoursPerSeed: upTo(most.hoursPerSeed),
  seed: upTo(largestSeed),
  machines: upTo(most.machines),
  outside: isFunction,
  atEnd: isFunction,
  onSeed: isFunction,
};

/**
 * Simulates an app: many processes of the real runtime in one thread, on simulated time, over a
 * simulated network, with faults that a seed draws. Each seed is run twice, and both must go the
 * same way. Failures have causes, and programs without a failure or message that is not there
 * without any fault must end as they do without it.
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
export async function simulate<Outside = undefined>(
  makeApp: MakeApp<Outside>,
  options: SimulateOptions<Outside>,
): Promise<SimulationReport> {
  if (typeof makeApp !== 'function')
    refuse(`\`makeApp\` must be a function, not ${describeValue(makeApp)}`);
  // `null` stands for what is missing, because the check ignores `undefined`.
  checkOptions<object>('simulate', { ...options, programs: options?.programs ?? null }, checks);
  const {
    atEnd,
    events = [],
    faults: rates = usualRates,
    machines = 3,
    onSeed,
    outside,
    programs,
  } = options;
  checkEventsOfPeople(events);
  const names = await runnableNames(makeApp({ version: 1, outside: outsideOf(options) }));
  const tally = new Tally();
  for (const { hours, seed } of seedsOf(options)) {
    const made = typeof programs === 'function' ? programs(seed) : programs;
    checkPrograms(made, names);
    const given = defined({
      ...{ seed, hours, machines, rates, programs: made, events },
      ...{ makeApp, outside: outside === undefined ? undefined : () => outsideOf(options), atEnd },
    });
    const checked = await checkedSeed(given);
    const { failing, outcome } = checked;
    tally.add(checked, made);
    if (outcome.broken.length > 0) tally.failures.push(await shorterStory(failing, outcome));
    onSeed?.(outcome);
  }
  return tally.report;
}

/** The doubles of a run. Without `outside`, their type is that of nothing. */
function outsideOf<Outside>({ outside }: SimulateOptions<Outside>): Outside {
  const made = outside?.() as Outside;
  if (made instanceof Promise) refuse('`outside` must return the doubles, not a promise of them');
  return made;
}

/** Returns the seeds to simulate, and the hours of each. */
function* seedsOf({
  hoursPerSeed: given,
  hours = Math.max(100, given ?? 0),
  seed: first = 1,
}: Pick<SimulateOptions, 'hours' | 'hoursPerSeed' | 'seed'>) {
  const each = given ?? Math.min(10, hours);
  if (hours < each)
    refuse(`\`hours\` must be at least \`hoursPerSeed\`: ${hours} is less than ${each}`);
  const last = first + Math.ceil(hours / each) - 1;
  if (last > largestSeed)
    refuse(`the seeds from ${first} to ${last} must end at ${largestSeed}: give fewer \`hours\``);
  for (let seed = first; seed <= last; seed++) yield { seed, hours: each };
}
