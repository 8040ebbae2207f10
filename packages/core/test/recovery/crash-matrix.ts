import { type Event, memoryStore, type Runnable, type RunResult, type Runtime, runtime, type Store } from 'adjutant';
import { projection } from './projection.ts';
import { tickingClock } from './ticking-clock.ts';

/** One execution of a tool, as the tool saw it. */
export interface Execution {
  readonly callId: string;
  readonly key: string;
}

/** Definitions made anew for each process that works on the run. */
export interface ScenarioRun {
  readonly runnable: Runnable;
  readonly runnables?: readonly Runnable[];
  /** Filled by the scenario's tools. */
  readonly executions: readonly Execution[];
}

export type MakeScenario = () => ScenarioRun;

const sessionId = 'the-session';
const runId = 'run';
const input = 'Go';

export interface Outcome {
  readonly result: Pick<RunResult, 'status' | 'output' | 'error' | 'stopReason'>;
  readonly state: unknown;
  readonly projection: unknown;
}

export interface Process {
  readonly app: Runtime;
  readonly run: ScenarioRun;
}

/** Every process is started an hour after the last event: the time in between is nobody's. */
function startProcess(make: MakeScenario, store: Store, events: readonly Event[] = []): Process {
  const run = make();
  const last = events.at(-1);
  const clock = last === undefined ? tickingClock() : tickingClock(last.at + 3_600_000);
  const app = runtime({ app: 'matrix', store, runnables: [run.runnable, ...(run.runnables ?? [])], ports: { clock } });
  return { app, run };
}

async function outcomeOf({ app }: Process, result: RunResult): Promise<Outcome> {
  const { session } = result;
  // What was dispatched outlives the run: the session is idle when all of it has ended.
  await idle(session.events, () => session.ledger.durable());
  const { status, output, error, stopReason } = result;
  await app.close();
  return {
    result: { status, output, error, stopReason },
    state: session.ledger.state.scopes,
    projection: projection(session.events, session.ledger.resolve),
  };
}

async function idle(events: readonly Event[], flush: () => Promise<void> | undefined): Promise<void> {
  for (let turn = 0; turn < 1_000 && openPaths(events).length > 0; turn++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  await flush();
}

export function openPaths(events: readonly Event[]): readonly string[] {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'invocation_start') open.add(event.invocationId);
    if (event.type === 'invocation_end') open.delete(event.invocationId);
  }
  return [...open];
}

/** Runs a scenario without a stop. */
export async function runWhole(make: MakeScenario): Promise<{ readonly outcome: Outcome; readonly events: readonly Event[] }> {
  const process = startProcess(make, memoryStore());
  const result = await process.app.run(process.run.runnable, { input, runId, session: sessionId });
  const outcome = await outcomeOf(process, result);
  return { outcome, events: result.session.events };
}

/** The places after which a process can have stopped: between appends, each of which lands whole. */
export function appendBoundaries(events: readonly Event[]): readonly number[] {
  const cuts = [0];
  events.forEach((event, i) => {
    if (events[i + 1]?.at !== event.at) cuts.push(i + 1);
  });
  return cuts;
}

/** Continues a run from the first events of its ledger, in a new process on a new store. */
export async function continueFrom(
  make: MakeScenario,
  events: readonly Event[],
  store: Store = memoryStore(),
): Promise<{ readonly outcome: Outcome; readonly executions: readonly Execution[]; readonly events: readonly Event[] }> {
  const process = startProcess(make, store, events);
  const { app, run } = process;
  if (events.length > 0) await app.restoreSession({ app: 'matrix', id: sessionId, events });
  const hasRoot = events.some((event) => event.type === 'invocation_start' && event.mode === 'root');
  const result = await (hasRoot ? app.resume(sessionId) : app.run(run.runnable, { input, runId, session: sessionId }));
  const outcome = await outcomeOf(process, result);
  return { outcome, executions: run.executions, events: result.session.events };
}

/** Runs a scenario, gives it back as soon as `seq` events are there, and continues it in another process on the same store. */
export async function stopAndContinue(make: MakeScenario, seq: number): Promise<Outcome> {
  const store = memoryStore();
  // The processes share the store, which closes with the first of them.
  const kept: Store = { ...store, close: async () => undefined };
  const first = startProcess(make, kept);
  const session = await first.app.session({ id: sessionId });
  const running = first.app.run(first.run.runnable, { input, runId, session });
  const forget = session.ledger.onDraft((event) => {
    if (event.seq >= seq) running.stop();
  });
  const ended = await running.then(
    (result) => result,
    () => undefined,
  );
  // What was dispatched can be given back after the result.
  await running.settled();
  forget();
  if (ended !== undefined && openPaths(session.events).length === 0) return outcomeOf(first, ended);
  const second = startProcess(make, kept, session.events);
  const result = await second.app.resume(sessionId);
  return outcomeOf(second, result);
}
