import type { JsonValue } from '../../../base/json.ts';
import type { RunResult } from '../../../engine/run/run.ts';
import type { Event } from '../../../ledger/event.ts';
import type { Store } from '../../../ledger/port.ts';
import { memoryStore } from '../../../stores/memory.ts';
import type { Execution, MakeScenario } from './crash-scenario.ts';
import { crashingStore, keptOpen, takingOver } from './crashing-store.ts';
import {
  defaultApp,
  openInvocations,
  type RunPlace,
  type ScenarioOutcome,
  ScenarioProcess,
} from './scenario-process.ts';

/** A run that has come to its end, stopped on its way or not. */
export interface EndedScenario {
  readonly outcome: ScenarioOutcome;
  /** What the store has. */
  readonly events: readonly Event[];
  /** What the last process has of it. */
  readonly held: readonly Event[];
  /** What the session's shared scopes hold in the end, by scope and key. */
  readonly shared: Readonly<Record<string, Readonly<Record<string, JsonValue>>>>;
  /** What the last process entered. */
  readonly executions: readonly Execution[];
  /** What the processes before it entered, and the events that they left. */
  readonly before: { readonly executions: readonly Execution[]; readonly events: readonly Event[] };
  /** The events of the append at which the first process stopped. */
  readonly boundary?: readonly Event[] | undefined;
}

/** What is known of a run while it is made. */
export interface RunWatch {
  /** Whether the first process has come to the place at which it stops. */
  hasStopped: boolean;
}

/** Where a process is gone: before or after its own `number`th append. */
export interface Stop {
  readonly number: number;
  readonly when: 'before' | 'after';
}

const nothing: EndedScenario['before'] = { executions: [], events: [] };

/**
 * A place of its own for a run, on a store that others may use as well. What a body derives from
 * the session's name is the same in all places.
 */
export function placeOn(store: Store, tenant = 'default'): RunPlace {
  return { store: keptOpen(store), tenant, session: 'the-session' };
}

/** Runs a scenario without a stop, in memory. */
export function runWhole(make: MakeScenario): Promise<EndedScenario> {
  return runWholeAt(make, placeOn(memoryStore()));
}

function runWholeAt(make: MakeScenario, place: RunPlace): Promise<EndedScenario> {
  return work(new ScenarioProcess(make, place), (process) => process.begin());
}

/**
 * The places after which a process can have stopped: between appends, each of which lands whole.
 * They are told from each other by their times, so the run must have been made with `tickingClock`,
 * as those are that this kit makes.
 */
export function appendBoundaries(events: readonly Event[]): readonly number[] {
  const cuts = [0];
  events.forEach((event, i) => {
    if (events[i + 1]?.at !== event.at) cuts.push(i + 1);
  });
  return cuts;
}

/**
 * Continues a run from the first events of its ledger, in a new process on a store that knows
 * nothing of it. @param store @default one in memory
 */
export function continueFrom(
  make: MakeScenario,
  events: readonly Event[],
  store: Store = memoryStore(),
): Promise<EndedScenario> {
  return continueAt(make, events, placeOn(store));
}

/**
 * Continues a run from a copy of its first events. Questions have names that depend on the place:
 * the run must have been made in one of that name.
 */
export async function copyAt(
  make: MakeScenario,
  cut: number,
  place: RunPlace,
): Promise<EndedScenario> {
  const { events } = await runWholeAt(make, { ...place, store: keptOpen(memoryStore()) });
  return continueAt(make, events.slice(0, cut), place);
}

function continueAt(
  make: MakeScenario,
  events: readonly Event[],
  place: RunPlace,
): Promise<EndedScenario> {
  const before = { executions: [], events };
  return work(
    new ScenarioProcess(make, place, events),
    async (process) => {
      const app = process.scenario.app?.app ?? defaultApp;
      if (events.length > 0) await process.app.sessions.restore({ app, id: place.session, events });
      return process.goOn(events);
    },
    before,
  );
}

/**
 * Runs a scenario, gives it back as soon as `seq` events are there, and continues it in another
 * process on the same store.
 */
export async function giveBackAt(
  make: MakeScenario,
  seq: number,
  place: RunPlace,
): Promise<EndedScenario> {
  const first = new ScenarioProcess(make, place);
  try {
    const session = await first.session();
    const forget = session.ledger.onDraft((event) => {
      if (event.seq >= seq) first.stop();
    });
    const ended = await first.begin().catch(() => undefined);
    forget();
    const isOver =
      ended !== undefined &&
      ended.status !== 'yielded' &&
      openInvocations(session.events).length === 0;
    if (isOver) return await endOf(first, ended, nothing);
    await first.app.close();
    return await goOnFrom(make, place, {
      executions: first.executions,
      events: [...session.events],
    });
  } finally {
    first.end();
  }
}

/**
 * Stops a run at an append, continues it by another process on the same store, which may be stopped
 * as well, and so on. `undefined`: the first process has fewer appends.
 */
export async function crashAt(
  make: MakeScenario,
  stops: readonly Stop[],
  place: RunPlace,
  watch: RunWatch,
): Promise<EndedScenario | undefined> {
  let before = nothing;
  let boundary: readonly Event[] | undefined;
  for (const { number, when } of stops) {
    const crashing = crashingStore(takingOver(place.store), number, when);
    const process = new ScenarioProcess(
      make,
      { ...place, store: crashing.store, behind: place.store },
      before.events,
    );
    try {
      const ended = await Promise.race([process.goOn(before.events), crashing.crashed]);
      if (ended !== undefined && boundary === undefined) return undefined;
      if (ended !== undefined) return { ...(await endOf(process, ended, before)), boundary };
    } finally {
      process.end();
    }
    watch.hasStopped = true;
    boundary ??= crashing.boundary ?? [];
    before = {
      executions: [...before.executions, ...process.executions],
      events: await storedEvents(process),
    };
  }
  return {
    ...(await goOnFrom(make, { ...place, store: takingOver(place.store) }, before)),
    boundary,
  };
}

/** A process that goes on to the end from what others have left. */
function goOnFrom(
  make: MakeScenario,
  place: RunPlace,
  before: EndedScenario['before'],
): Promise<EndedScenario> {
  return work(
    new ScenarioProcess(make, place, before.events),
    (process) => process.goOn(before.events),
    before,
  );
}

async function work(
  process: ScenarioProcess,
  run: (process: ScenarioProcess) => Promise<RunResult>,
  before = nothing,
): Promise<EndedScenario> {
  try {
    return await endOf(process, await run(process), before);
  } finally {
    process.end();
  }
}

async function endOf(
  process: ScenarioProcess,
  result: RunResult,
  before: EndedScenario['before'],
): Promise<EndedScenario> {
  const outcome = await process.outcome(result);
  const { session } = result;
  const scopes = Object.entries(session.shared.scopeIds).map(async ([scope, id]) => {
    const stored = Object.entries(await process.ledgers.readShared(scope, id));
    return [
      scope,
      Object.fromEntries(
        stored.flatMap(([key, { value }]) => (value === undefined ? [] : [[key, value]])),
      ),
    ] as const;
  });
  const shared = Object.fromEntries(await Promise.all(scopes));
  return {
    outcome,
    events: await storedEvents(process),
    held: session.events,
    shared,
    executions: process.executions,
    before,
  };
}

async function storedEvents({ ledgers, place }: ScenarioProcess): Promise<readonly Event[]> {
  const events: Event[] = [];
  if ((await ledgers.head(place.session)) === undefined) return events;
  for await (const page of ledgers.read(place.session)) events.push(...page);
  return events;
}
