import { contentHash } from '../../base/hash.ts';
import type { Event } from '../../ledger/event.ts';
import type { Runtime } from '../../runtime.ts';
import type { Runnable } from '../../session/runnable.ts';
import { memoryStore } from '../../stores/memory.ts';
import { checkEnd } from './end-checks.ts';
import { type EndOfProgram, endsOf, sharedState } from './ends/program-ends.ts';
import { areEventsOpen } from './events/event-checks.ts';
import type { SimulatedEvent } from './events/simulated-event.ts';
import { FaultPlan, type FaultRates, faultName } from './faults.ts';
import { loadModules } from './load-modules.ts';
import { type AppOfProcess, MachineRoom, type SimulatedApp } from './machine-room.ts';
import { pathsGoingOn } from './open-paths.ts';
import { People } from './people.ts';
import type { SimulatedProgram, StartedProgram } from './simulated-program.ts';
import { hearingStrayErrors } from './stray-errors.ts';
import { Watch } from './watch.ts';
import { type BrokenRule, noteFault } from './watched-ledger.ts';
import { World } from './world.ts';

const hourMs = 3_600_000;
/** Share of the time in which faults happen: afterwards, all work must come to its end. */
const disturbedShare = 0.6;
/** Most hours after the end in which work that is late may still end. */
const mostLateHours = 12;
/** Most tasks of an hour: with more, processes turn in a circle. */
const mostStepsPerHour = 50_000;

/** End of the run of a program, in a simulated world. */
export interface SimulatedProgramEnd {
  readonly program: SimulatedProgram;
  /** `undefined` when the run has not ended. */
  readonly status: string | undefined;
  readonly output: unknown;
  /** State of its session. */
  readonly state: unknown;
}

/** A simulated world when all work has ended. */
export interface SimulatedEnd<Outside = undefined> {
  /** The doubles of the world outside, as this run leaves them. */
  readonly outside: Outside;
  /** Ends of the runs that were asked for, in the order of `programs`. */
  readonly ends: readonly SimulatedProgramEnd[];
}

/** One seed of a simulation. */
export interface SeedOptions {
  readonly seed: number;
  readonly hours: number;
  /** Number of machines. */
  readonly machines: number;
  readonly rates: FaultRates;
  readonly programs: readonly SimulatedProgram[];
  /** Events that people publish. @default none */
  readonly events?: readonly SimulatedEvent[];
  /** A method, as are the next two: they agree on the type of `outside`. */
  makeApp(process: AppOfProcess<unknown>): SimulatedApp;
  /** Makes the doubles of the world outside, anew for each run. */
  outside?(): unknown;
  /** Checks the end of a run. */
  atEnd?(end: SimulatedEnd<unknown>): void | Promise<void>;
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
  readonly shared: Readonly<Record<string, unknown>>;
  /** Hash of all port calls and of all ledgers: equal for equal seeds. */
  readonly trace: string;
  readonly ledgers: readonly (readonly Event[])[];
  /** The first calls of ports, with their times. */
  readonly calls: readonly string[];
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
  const { seed, hours, machines, programs, rates, onlyFaults: only } = options;
  const plan = new FaultPlan(world.draws, { rates, only });
  const disturbedMs = hours * hourMs * disturbedShare;
  const behind = memoryStore({ clock: storeClock(world) });
  const store = watch.over(behind);
  const outside = options.outside?.();
  const makeVersion = (version: number) => options.makeApp({ version, outside });
  const { app, tenant = 'default' } = makeVersion(1);
  const scope = { tenant, app };
  const ledgers = behind.for(scope);
  const first = { app, programs };
  const parts = { world, plan, watch, store, makeVersion, first, disturbedMs };
  const room = new MachineRoom(machines, parts);
  plan.onFault = (fault) => noteFault(watch.ledgers.values(), fault);
  const people = new People({ world, plan, room, watch, ledgers, scope, runnable });
  for (const [index, program] of programs.entries()) {
    if (options.onlyPrograms?.has(index) === false) continue;
    const at = world.draws.at(`start ${index}`) * disturbedMs * 0.8;
    world.after(at, () => void people.start(program, index));
  }
  people.events.begin(options.events ?? [], disturbedMs * 0.8);
  await world.runUntil(disturbedMs);
  plan.end();
  room.restartAll();
  people.hurry();
  if (watch.broken.length === 0) await untilEnded({ world, watch, people, room }, hours);
  if (world.isEndless) watch.report('comes_to_rest', `it goes on after ${world.steps} tasks`);
  for (const ledger of watch.ledgers.values())
    ledger.isEdited = (ledger.landedAt.at(-1) ?? 0) >= room.editedAt;
  const { started } = people;
  const ended = { watch, ledgers, ...actsOf(people) };
  const found = watch.broken.length > 0 ? [] : await checkEnd(ended);
  const ends = await endsOf({ scope, started, watch, ledgers, world });
  if (watch.broken.length === 0 && found.length === 0)
    await checkOfApp(watch, () => options.atEnd?.({ outside, ends: programEnds(started, ends) }));
  const broken = [...watch.broken, ...found];
  const lists = [...watch.ledgers.values()].map(({ events }) => events);
  return {
    seed,
    broken,
    faults: plan.happened.map(faultName),
    ends,
    shared: await sharedState({ started: people.started, ledgers }),
    trace: contentHash([world.trace, lists as never]),
    ledgers: lists,
    calls: world.calls,
    story: world.story,
    steps: world.steps,
    hours: world.elapsed / hourMs,
    events: lists.reduce((sum, events) => sum + events.length, 0),
  };
}

/** The acts of people that the end of a simulation is checked by. */
function actsOf(people: People) {
  const { answered, beside, events, given, interventions, messages, repairs, started } = people;
  const { controls, letGo, said } = interventions;
  return {
    started: [...started, ...beside],
    answered,
    given,
    said,
    messages: messages.said,
    told: repairs.told,
    published: events.confirmed,
    controls,
    letGo,
  };
}

/** Ends of programs as their author sees them, in the order of the programs. */
function programEnds(
  started: readonly StartedProgram[],
  ends: readonly EndOfProgram[],
): readonly SimulatedProgramEnd[] {
  const inOrder = started.toSorted((left, right) => left.index - right.index);
  return inOrder.flatMap(({ program }, place) => {
    const end = ends[place];
    if (end === undefined) return [];
    const { output, state, status } = end;
    return [{ program, status, output, state }];
  });
}

/** Runs the check of the app's author. What it throws breaks a rule. */
async function checkOfApp(watch: Watch, check: () => void | Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    watch.reportError('at_end', error);
  }
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
    const isAsked = [...people.started, ...people.beside].some(({ isAccepted }) => !isAccepted);
    const isQueued = people.started.some((one) => isTaskOpen(watch, one));
    const isPublished = people.events.areConfirmed && !areEventsOpen(watch);
    if (!isOpen && !isAsked && !isQueued && isPublished && !people.repairs.isNeeded) return;
    if (late % 4 === 3) room.restartAll();
    await world.runUntil(world.elapsed + hourMs / 4);
  }
}

/** True for a task that has no end: it may still wait for its turn. */
function isTaskOpen(watch: Watch, { program, runId, session }: StartedProgram): boolean {
  if (program.task === undefined) return false;
  return !watch
    .eventsOf(session)
    .some(({ type, invocationId }) => type === 'invocation_end' && invocationId === runId);
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
