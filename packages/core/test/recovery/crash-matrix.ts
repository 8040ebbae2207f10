import { type Event, memoryStore, type Store } from 'adjutant';
import { app, type Outcome, openPaths, Process, shared } from './process.ts';
import type { Execution, MakeScenario } from './scenario.ts';

export interface Continued {
  readonly outcome: Outcome;
  readonly events: readonly Event[];
  /** What the last process did. */
  readonly executions: readonly Execution[];
  /** What the one before it did, and the events that it left. */
  readonly before?: { readonly executions: readonly Execution[]; readonly events: readonly Event[] };
}

const defaultSession = 'the-session';

/** Runs a scenario without a stop. */
export async function runWhole(make: MakeScenario, sessionId: string = defaultSession): Promise<Continued> {
  const process = new Process(make, memoryStore(), { sessionId });
  const result = await process.begin();
  const outcome = await process.outcome(result);
  return { outcome, events: result.session.events, executions: process.run.executions };
}

/** The places after which a process can have stopped: between appends, each of which lands whole. */
export function appendBoundaries(events: readonly Event[]): readonly number[] {
  const cuts = [0];
  events.forEach((event, i) => {
    if (events[i + 1]?.at !== event.at) cuts.push(i + 1);
  });
  return cuts;
}

/** Continues a run from the first events of its ledger, in a new process on a store that knows nothing of it. */
export async function continueFrom(
  make: MakeScenario,
  events: readonly Event[],
  store: Store = memoryStore(),
  sessionId: string = defaultSession,
): Promise<Continued> {
  const process = new Process(make, store, { sessionId, events });
  if (events.length > 0) await process.app.restoreSession({ app, id: sessionId, events });
  const result = await process.goOn(events);
  const outcome = await process.outcome(result);
  return { outcome, executions: process.run.executions, events: result.session.events, before: { executions: [], events } };
}

/** Runs a scenario, gives it back as soon as `seq` events are there, and continues it in another process on the same store. */
export async function stopAndContinue(
  make: MakeScenario,
  seq: number,
  store: Store = memoryStore(),
  sessionId: string = defaultSession,
): Promise<Continued> {
  const kept = shared(store);
  const first = new Process(make, kept, { sessionId });
  const session = await first.session();
  const forget = session.ledger.onDraft((event) => {
    if (event.seq >= seq) first.stop();
  });
  const ended = await first.begin().catch(() => undefined);
  forget();
  if (ended !== undefined && ended.status !== 'yielded' && openPaths(session.events).length === 0) {
    return { outcome: await first.outcome(ended), events: session.events, executions: first.run.executions };
  }
  await first.app.close();
  const before = { executions: first.run.executions, events: [...session.events] };
  const second = new Process(make, kept, { sessionId, events: before.events });
  const result = await second.goOn(before.events);
  const outcome = await second.outcome(result);
  return { outcome, events: result.session.events, executions: second.run.executions, before };
}
