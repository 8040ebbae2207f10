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
  /** The events in the store. */
  readonly events: readonly Event[];
  /** The events in memory of the last process. */
  readonly held: readonly Event[];
  /** Values of the session's shared scopes in the end, by scope and key. */
  readonly shared: Readonly<Record<string, Readonly<Record<string, JsonValue>>>>;
  /** Executions of the last process. */
  readonly executions: readonly Execution[];
  /** Executions of the processes before it, and the events that they left. */
  readonly before: { readonly executions: readonly Execution[]; readonly events: readonly Event[] };
  /** The events of the append at which the first process stopped. */
  readonly boundary?: readonly Event[] | undefined;
}

/** Knowledge of a run while it is under way. */
export interface RunWatch {
  /** True when the first process has come to the place at which it stops. */
  hasStopped: boolean;
}

/** Place at which a process stops: before or after its own `number`th append. */
export interface Stop {
  readonly number: number;
  readonly when: 'before' | 'after';
}

const nothing: EndedScenario['before'] = { executions: [], events: [] };

/**
 * Makes a place for one run, on a store that others may use as well. Values that a body derives
 * from the session's name are the same in all places.
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
 * Returns the places after which a process can have stopped: between appends, each of which is
 * written as a whole. Appends are told apart by their times. The run must have been made with
 * `tickingClock`, as runs of this kit are.
 */
export function appendBoundaries(events: readonly Event[]): readonly number[] {
  const cuts = [0];
  events.forEach((event, i) => {
    if (events[i + 1]?.at !== event.at) cuts.push(i + 1);
  });
  return cuts;
}

/**
 * Continues a run from the first events of its ledger. The new process has a store that is
 * otherwise empty.
 * @param store
 * @default one in memory
 */
export function continueFrom(
  make: MakeScenario,
  events: readonly Event[],
  store: Store = memoryStore(),
): Promise<EndedScenario> {
  return continueAt(make, events, placeOn(store));
}

/**
 * Continues a run from a copy of its first events. The names of questions depend on the place: the
 * run must have been made in a place of that name.
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
 * Runs a scenario and releases it as soon as `seq` events are there. Another process on the same
 * store continues it.
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
      ended !== undefined && first.isOver(ended) && openInvocations(session.events).length === 0;
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
 * Stops a run at an append and continues it in another process on the same store. That process may
 * be stopped as well, and so on. `undefined`: the first process has fewer appends.
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

/** Makes a process that continues the run of earlier processes to its end. */
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
