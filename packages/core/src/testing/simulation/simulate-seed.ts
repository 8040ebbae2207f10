import { contentHash } from '../../base/hash.ts';
import type { Event } from '../../ledger/event.ts';
import type { Runtime } from '../../runtime.ts';
import type { Runnable } from '../../session/runnable.ts';
import { memoryStore } from '../../stores/memory.ts';
import { checkEnd } from './end-checks.ts';
import { FaultPlan, type FaultRates, faultName } from './faults.ts';
import { loadModules } from './load-modules.ts';
import { MachineRoom, type MakeApp } from './machine-room.ts';
import { pathsGoingOn } from './open-paths.ts';
import { People, type SimulatedProgram } from './people.ts';
import { type EndOfProgram, endsOf, sharedState } from './program-ends.ts';
import { hearingStrayErrors } from './stray-errors.ts';
import { Watch } from './watch.ts';
import type { BrokenRule } from './watched-ledger.ts';
import { World } from './world.ts';

const hourMs = 3_600_000;
/** Share of the time in which faults happen: afterwards, all work must come to its end. */
const disturbedShare = 0.6;
/** Most hours after the end in which work that is late may still end. */
const mostLateHours = 12;
/** Most tasks of an hour: with more, processes turn in a circle. */
const mostStepsPerHour = 50_000;

/** One seed of a simulation. */
export interface SeedOptions {
  readonly seed: number;
  readonly hours: number;
  /** Number of machines. */
  readonly machines: number;
  readonly rates: FaultRates;
  readonly programs: readonly SimulatedProgram[];
  readonly makeApp: MakeApp;
  /** Places of the only programs that are asked for. @default all */
  readonly onlyPrograms?: ReadonlySet<number>;
  /** Names of the only faults that may happen. @default all */
  readonly onlyFaults?: ReadonlySet<string>;
  readonly keepsStory?: boolean;
}

/** What one seed came to. */
export interface SeedOutcome {
  readonly seed: number;
  readonly broken: readonly BrokenRule[];
  readonly faults: readonly string[];
  readonly ends: readonly EndOfProgram[];
  /** The state of the users at the end, by user. */
  readonly shared: unknown;
  /** Hash of all port calls and of all ledgers: equal for equal seeds. */
  readonly trace: string;
  readonly ledgers: readonly (readonly Event[])[];
  readonly story: readonly string[];
  readonly steps: number;
  readonly hours: number;
  readonly events: number;
}

/** Simulates the processes of one seed, from their start until all work has ended. */
export async function simulateSeed(options: SeedOptions): Promise<SeedOutcome> {
  await loadModules();
  const mostSteps = mostStepsPerHour * (options.hours + mostLateHours);
  const world = new World(options.seed, options.keepsStory === true, mostSteps);
  const watch = new Watch(world);
  const forget = watch.listen();
  try {
    return await hearingStrayErrors(
      (error) => watch.reportError('errors_handled', error),
      () => simulateIn(world, watch, options),
    );
  } finally {
    forget();
  }
}

async function simulateIn(world: World, watch: Watch, options: SeedOptions): Promise<SeedOutcome> {
  const { seed, hours, machines, makeApp, programs, rates, onlyFaults: only } = options;
  const plan = new FaultPlan(world.draws, { rates, only });
  const disturbedMs = hours * hourMs * disturbedShare;
  const behind = memoryStore({ clock: storeClock(world) });
  const store = watch.over(behind);
  const appName = makeApp({ version: 1 }).app;
  const ledgers = behind.for({ tenant: 'default', app: appName });
  const room = new MachineRoom(machines, { world, plan, watch, store, makeApp, disturbedMs });
  const people = new People({ world, plan, room, watch, ledgers, runnable });
  for (const [index, program] of programs.entries()) {
    if (options.onlyPrograms?.has(index) === false) continue;
    const at = world.draws.at(`start ${index}`) * disturbedMs * 0.8;
    world.after(at, () => void people.start(program, index));
  }
  await world.runUntil(disturbedMs);
  plan.end();
  room.restartAll();
  people.hurry();
  if (watch.broken.length === 0) await untilEnded({ world, watch, people, room }, hours);
  if (world.isEndless) watch.report('comes_to_rest', `it goes on after ${world.steps} tasks`);
  const { answered, given, started } = people;
  const { controls, letGo, said } = people.interventions;
  const ended = { watch, ledgers, started, answered, given, said, controls, letGo };
  const broken = watch.broken.length > 0 ? watch.broken : await checkEnd(ended);
  const ends = await endsOf({ app: appName, started: people.started, watch, ledgers, world });
  const lists = [...watch.ledgers.values()].map(({ events }) => events);
  return {
    seed,
    broken,
    faults: plan.happened.map(faultName),
    ends,
    shared: await sharedState({ started: people.started, ledgers }),
    trace: contentHash([world.trace, lists as never]),
    ledgers: lists,
    story: world.story,
    steps: world.steps,
    hours: world.elapsed / hourMs,
    events: lists.reduce((sum, events) => sum + events.length, 0),
  };
}

interface Parties {
  readonly world: World;
  readonly watch: Watch;
  readonly people: People;
  readonly room: MachineRoom;
}

/**
 * Goes on until nothing is open any more, and at least to the end of the time. What was begun with
 * an edit of the code may need that edit to end: versions with and without it take turns.
 */
async function untilEnded({ world, watch, people, room }: Parties, hours: number): Promise<void> {
  await world.runUntil(hours * hourMs);
  for (let late = 0; late < mostLateHours * 4; late++) {
    const isOpen = [...watch.ledgers.values()].some(
      ({ events }) => pathsGoingOn(events).length > 0,
    );
    const isAsked = people.started.some(({ isAccepted }) => !isAccepted);
    if (!isOpen && !isAsked) return;
    if (late % 4 === 3) room.restartAll();
    await world.runUntil(world.elapsed + hourMs / 4);
  }
}

/** The store's machine has a clock of its own, which is right. */
function storeClock(world: World) {
  return {
    now: () => Math.floor(world.now),
    monotonic: () => world.elapsed,
    setTimer: (ms: number, task: () => void) => world.after(ms, task),
  };
}

function runnable(app: Runtime, name: string): Runnable {
  const found = app.runnables.find((one) => one.name === name);
  if (found === undefined) throw new RangeError(`No runnable of the app has the name "${name}".`);
  return found;
}
