import { checkOptions, InvalidOptionError } from '../../../base/invalid-option.ts';
import {
  describeValue,
  findInvalidOption,
  isAnything,
  isCount,
  isFunction,
  isGroup,
  isListOf,
  isNotNegative,
  isObject,
  isOneOf,
  isPositive,
  isText,
  type OptionChecks,
} from '../../../base/options.ts';
import { isLane } from '../../../ledger/folds/lanes.ts';
import type { Store } from '../../../ledger/port.ts';
import { anyRunnable } from '../../../session/runnable.ts';
import { memoryStore } from '../../../stores/memory.ts';
import { findProblem } from './compare-runs.ts';
import { type CrashCase, type CrashManner, crashCases, within } from './crash-cases.ts';
import type { CrashScenario, MakeScenario } from './crash-scenario.ts';
import { CrashPointError, CrashPointsError } from './errors.ts';
import { type EndedScenario, runWhole } from './scenario-runs.ts';

export interface CrashPointsOptions {
  /**
   * A store for all runs, or a function that opens one for each. Each run has a tenant of its own
   * in a shared store.
   * @default one in memory for each
   */
  readonly store?: Store | (() => Store);
  /** @default ['before', 'after', 'copied'] */
  readonly manners?: readonly CrashManner[];
  /**
   * `separate`: every event is sent to the store at once. There are as many places as with models
   * and tools that take their time. `batched`: events gather for up to 2 ms, as in the runtime;
   * runs on scripted models have few appends then.
   * @default 'separate'
   */
  readonly appends?: 'separate' | 'batched';
  /**
   * Stops at each `every`th place only.
   * @default 1
   */
  readonly every?: number;
  /** Runs at the same time. @default 4 */
  readonly atOnce?: number;
  /** Milliseconds after which a continued run counts as hanging. @default 60_000 */
  readonly timeoutMs?: number;
}

export interface CrashPointsReport {
  /** Number of times that the run was stopped and continued. */
  readonly points: number;
  /** The end of the run without a stop, which all others reached as well. */
  readonly whole: EndedScenario;
}

const isStore = (value: unknown): string | undefined =>
  typeof value === 'function' || typeof (value as Partial<Store> | null)?.for === 'function'
    ? undefined
    : 'a store, or a function that gives one';

const areManners = isListOf('before', 'after', 'twice', 'given-back', 'copied');
const isEmpty = (value: unknown): boolean => (value as readonly unknown[]).length === 0;

const optionChecks: OptionChecks<CrashPointsOptions> = {
  store: isStore,
  manners: (value) =>
    areManners(value) ?? (isEmpty(value) ? 'a list that has at least one' : undefined),
  appends: isOneOf('separate', 'batched'),
  every: isCount,
  atOnce: isCount,
  timeoutMs: isPositive,
};

/**
 * Refuses members that the kit sets itself: an option that is accepted and ignored would mislead.
 */
const isWithout =
  (...taken: readonly string[]) =>
  (value: unknown): string | undefined => {
    const found =
      isObject(value) === undefined
        ? taken.find((key) => (value as Readonly<Record<string, unknown>>)[key] !== undefined)
        : '';
    if (found === undefined) return undefined;
    return found === ''
      ? 'an object'
      : `an object without \`${found}\`, which each process has of its own`;
  };

const isRunnable = (value: unknown): string | undefined => {
  const { kind, name } = (value ?? {}) as { readonly kind?: unknown; readonly name?: unknown };
  return typeof kind === 'string' && typeof name === 'string' ? undefined : anyRunnable;
};

const scenarioChecks: OptionChecks<CrashScenario> = {
  runnable: isRunnable,
  input: isText,
  data: isAnything,
  model: isText,
  app: isWithout('store', 'tenant', 'recover', 'ports'),
  session: isWithout('id', 'existing', 'stateSchema', 'observe'),
  answers: (value) => (typeof value === 'function' ? undefined : isObject(value)),
  message: isFunction,
  repair: isFunction,
  beside: isGroup<NonNullable<CrashScenario['beside']>>({
    runnable: isRunnable,
    lane: isLane,
    input: isText,
  }),
  cancelWhen: isObject,
  interruptWhen: isObject,
  pauseMs: isNotNegative,
  compares: isOneOf('projection', 'outcome', 'end'),
};

/**
 * Runs a scenario once without a stop, and then again for each place at which its process can stop:
 * right before and right after each append to its ledger, and between any two events that could
 * have been appended apart. Questions of the stopped process to the store are never answered; a new
 * process, with definitions of its own, continues the run. Each of them must reach the same result,
 * state and projection of the ledger. Each tool must be entered once at most for each recorded
 * attempt, and one that reports once in all.
 *
 * @param make makes the definitions of one process; called for each process
 * @throws CrashPointsError, which names each place and its difference
 * @throws InvalidOptionError for unknown or unsuitable options, for questions without an answer,
 * and when two runs without a stop differ
 */
export async function crashPoints(
  make: MakeScenario,
  options: CrashPointsOptions = {},
): Promise<CrashPointsReport> {
  checkOptions('crashPoints', options, optionChecks);
  checkScenario(make);
  const {
    store,
    manners = ['before', 'after', 'copied'],
    appends = 'separate',
    every = 1,
    atOnce = 4,
    timeoutMs = 60_000,
  } = options;
  const openStore = typeof store === 'function' ? store : () => store ?? memoryStore();
  const whole = await within(timeoutMs, runWhole(make), 'the run without a stop');
  await assertRepeatable(make, whole, timeoutMs);
  const failures: { point: string; message: string; error: unknown }[] = [];
  let points = 0;
  await runAll(
    crashCases(make, { openStore, manners, appends, every, timeoutMs }),
    atOnce,
    async ({ name, run }) => {
      try {
        if (await run()) points++;
      } catch (error) {
        points++;
        failures.push({
          point: name,
          message: error instanceof CrashPointError ? error.message : `${name}: ${textOf(error)}`,
          error,
        });
      }
    },
  );
  if (failures.length === 0) return { points, whole };
  const [first] = failures;
  throw new CrashPointsError(
    { points, failures: failures.map(({ point, message }) => ({ point, message })) },
    { cause: first?.error },
  );
}

/** @throws InvalidOptionError */
function checkScenario(make: MakeScenario): void {
  const scenario = typeof make === 'function' ? make() : undefined;
  const isPromise =
    typeof (scenario as { readonly then?: unknown } | undefined)?.then === 'function';
  const isMissing =
    scenario !== undefined && (scenario as Partial<CrashScenario> | null)?.runnable === undefined;
  const reason =
    scenario !== undefined
      ? isPromise
        ? 'what is to be run must be given at once, and not as a promise'
        : (findInvalidOption(scenario, scenarioChecks)?.reason ??
          (isMissing ? '`runnable` is missing' : undefined))
      : 'what is to be run must be a function that gives it, so that each process has its ' +
        `own, not ${describeValue(make)}`;
  if (reason !== undefined) throw new InvalidOptionError({ function: 'crashPoints', reason });
}

/**
 * Checks that two runs without a stop are equal: a difference of them would be taken for one of a
 * stop.
 */
async function assertRepeatable(
  make: MakeScenario,
  whole: EndedScenario,
  timeout: number,
): Promise<void> {
  const { compares = 'projection' } = make();
  const again = await within(timeout, runWhole(make), 'the second run without a stop');
  const problem = findProblem(whole, again, { compares, isCopy: false });
  if (problem === undefined) return;
  const places = problem.differences
    .map(({ path, left = 'nothing', right = 'nothing' }) => `${path}: ${left}, then ${right}`)
    .join('; ');
  const advice =
    'take times, names and random numbers from the context, or compare less with `compares`';
  throw new InvalidOptionError({
    function: 'crashPoints',
    reason: `of two runs without a stop the second differs, ${problem.what} (${places}): ${advice}`,
  });
}

/** Runs cases as they are found, some at the same time. */
async function runAll(
  found: AsyncGenerator<CrashCase>,
  atOnce: number,
  run: (one: CrashCase) => Promise<void>,
): Promise<void> {
  const worker = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await found.next();
      if (done === true) return;
      await run(value);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
}
