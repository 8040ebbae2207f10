import { systemClock } from '../../../base/clock.ts';
import { systemIds } from '../../../base/id.ts';
import type { Event } from '../../../ledger/event.ts';
import type { Store } from '../../../ledger/port.ts';
import { findProblem } from './compare-runs.ts';
import type { MakeScenario } from './crash-scenario.ts';
import { CrashPointError } from './errors.ts';
import type { RunPlace } from './scenario-process.ts';
import {
  appendBoundaries,
  copyAt,
  crashAt,
  type EndedScenario,
  giveBackAt,
  placeOn,
  type RunWatch,
  runWhole,
  type Stop,
} from './scenario-runs.ts';

/**
 * The manner in which a run is stopped. `before`, `after`: its process stops right before or after
 * an append, and a new one continues. `twice`: the process after it stops as well. `given-back`:
 * `run.stop()`, and another process continues. `copied`: another process continues from a copy of
 * the first events.
 */
export type CrashManner = 'before' | 'after' | 'twice' | 'given-back' | 'copied';

/** One way to stop a run at one place, and to continue it. */
export interface CrashCase {
  readonly name: string;
  /**
   * @returns true when there was such a place
   * @throws CrashPointError when the run did not come to the same end
   */
  run(): Promise<boolean>;
}

export interface CrashCasesOptions {
  /**
   * Beginning of the name of each case.
   * @default nothing
   */
  readonly name?: string;
  /**
   * Opens the store of a run: one that all share, or one for each. Each run has a tenant of its
   * own.
   */
  readonly openStore: () => Store;
  readonly manners: readonly CrashManner[];
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
  /** Milliseconds after which a continued run counts as hanging. @default 60_000 */
  readonly timeoutMs?: number;
}

interface Plan extends Required<CrashCasesOptions> {
  /** Beginning of the name of each tenant, so that a store can be used again. */
  readonly series: string;
  readonly make: MakeScenario;
  readonly whole: EndedScenario;
}

/**
 * Returns all cases of a scenario. Those that stop at an append are found during the runs: the
 * number of appends depends on the store.
 */
export async function* crashCases(
  make: MakeScenario,
  options: CrashCasesOptions,
): AsyncGenerator<CrashCase> {
  const plan: Plan = {
    name: '',
    every: 1,
    appends: 'separate',
    timeoutMs: defaultTimeoutMs,
    ...options,
    series: systemIds.next(),
    make,
    whole: await runWhole(make),
  };
  if (options.manners.includes('copied')) yield* copies(plan);
  if (options.manners.includes('given-back')) yield* returns(plan);
  for (const [manner, { title, stopsAt }] of Object.entries(crashes)) {
    if (options.manners.includes(manner as CrashManner)) yield* stops(plan, title, stopsAt);
  }
}

function* copies(plan: Plan): Generator<CrashCase> {
  const { events } = plan.whole;
  const cuts = appendBoundaries(events).filter(
    (cut, i) => i % plan.every === 0 && cut !== events.length,
  );
  for (const cut of cuts) {
    const at = events.slice(Math.max(0, cut - 1), cut);
    yield oneCase(plan, `continued from event ${cut}`, (place) => copyAt(plan.make, cut, place), {
      at,
      isCopy: true,
    });
  }
}

function* returns(plan: Plan): Generator<CrashCase> {
  const { events } = plan.whole;
  for (let seq = 1; seq < events.length; seq += plan.every) {
    const at = events.slice(seq - 1, seq);
    yield oneCase(
      plan,
      `given back at event ${seq}`,
      (place) => giveBackAt(plan.make, seq, place),
      { at, isCopy: false },
    );
  }
}

function* stops(
  plan: Plan,
  title: string,
  stopsAt: (number: number) => readonly Stop[],
): Generator<CrashCase> {
  const end = { isReached: false };
  for (let number = 1; !end.isReached; number += plan.every) {
    const watch: RunWatch = { hasStopped: false };
    const { name, run } = oneCase(
      plan,
      `${title} ${number}`,
      (place) => crashAt(plan.make, stopsAt(number), place, watch),
      { isCopy: false },
    );
    yield {
      name,
      run: async () => {
        try {
          return await run();
        } finally {
          // A run that failed before its place ends the series too: it would fail at all later
          // places.
          if (!watch.hasStopped) end.isReached = true;
        }
      },
    };
  }
}

const crashes: Readonly<
  Record<string, { readonly title: string; readonly stopsAt: (number: number) => readonly Stop[] }>
> = {
  before: { title: 'stopped before append', stopsAt: (number) => [{ number, when: 'before' }] },
  after: { title: 'stopped after append', stopsAt: (number) => [{ number, when: 'after' }] },
  twice: {
    title: 'stopped twice, first after append',
    stopsAt: (number) => [
      { number, when: 'after' },
      { number: 1 + ((number * 3) % 5), when: number % 2 === 0 ? 'before' : 'after' },
    ],
  },
};

interface Circumstances {
  /** The events at which the run is stopped, where they are known before. */
  readonly at?: readonly Event[];
  readonly isCopy: boolean;
}

function oneCase(
  { make, whole, openStore, appends, series, name, timeoutMs }: Plan,
  point: string,
  run: (place: RunPlace) => Promise<EndedScenario | undefined>,
  { at, isCopy }: Circumstances,
): CrashCase {
  const title = name === '' ? point : `${name}: ${point}`;
  return {
    name: title,
    run: async () => {
      const { compares = 'projection' } = make();
      const tenant = `${series} ${title}`;
      const continued = await within(
        timeoutMs,
        run({ ...placeOn(openStore(), tenant), isHasty: appends === 'separate' }),
        'the run',
      );
      if (continued === undefined) return false;
      const problem = findProblem(whole, continued, { compares, isCopy });
      if (problem === undefined) return true;
      throw new CrashPointError({
        point,
        tenant,
        boundary: describeBoundary(continued.boundary ?? at ?? []),
        ...problem,
      });
    },
  };
}

/** Milliseconds after which a continued run counts as hanging. */
const defaultTimeoutMs = 60_000;

/** @throws Error when the work takes longer */
export async function within<Value>(
  timeout: number,
  work: Promise<Value>,
  what: string,
): Promise<Value> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const cancel = systemClock.setTimer(timeout, () =>
    reject(new Error(`${what} has not ended after ${timeout / 1_000} seconds`)),
  );
  try {
    return await Promise.race([work, over]);
  } finally {
    cancel();
  }
}

/** Describes an append by its events, for a reader. */
function describeBoundary(events: readonly Event[]): string {
  const names = events.map((event) => {
    const subject = 'callId' in event ? event.callId : event.invocationId;
    return `${event.seq} ${event.type}${subject === undefined ? '' : ` ${subject}`}`;
  });
  return names.length <= 3
    ? names.join(', ')
    : `${names.slice(0, 2).join(', ')}, … ${names.at(-1)}`;
}
