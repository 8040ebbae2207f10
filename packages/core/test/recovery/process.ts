import { type Event, type PendingCall, type Run, type RunResult, type Runtime, runtime, type Session, type Store } from 'adjutant';
import { projection } from './projection.ts';
import type { MakeScenario, ScenarioRun } from './scenario.ts';
import { tickingClock } from './ticking-clock.ts';

export const app = 'matrix';
const runId = 'run';
const input = 'Go';
/** The same for all first processes: what a body derives from the time of its start is the same then. */
const firstStart = Date.now();

export interface Outcome {
  readonly result: Pick<RunResult, 'status' | 'output' | 'error' | 'stopReason'>;
  readonly state: unknown;
  readonly projection: unknown;
}

/** What works on one run of a scenario: definitions and a runtime of their own, as a new process has them, and whoever answers and cancels. */
export class Process {
  readonly app: Runtime;
  readonly run: ScenarioRun;
  readonly sessionId: string;
  /** What is under way, and whether it is to be stopped as soon as it begins. */
  #running: Run | undefined;
  #isStopped = false;

  /** Every process is started long after the last event: the time in between is nobody's. */
  constructor(make: MakeScenario, store: Store, { sessionId, events = [] }: { readonly sessionId: string; readonly events?: readonly Event[] }) {
    this.run = make();
    this.sessionId = sessionId;
    const { runnable, runnables = [], stateSchema, lifecycle, pause = 3_600_000 } = this.run;
    const last = events.at(-1);
    const clock = tickingClock(last === undefined ? firstStart : last.at + pause);
    const more = { ...(stateSchema === undefined ? {} : { stateSchema }), ...(lifecycle === undefined ? {} : { lifecycle }) };
    this.app = runtime({ app, store, runnables: [runnable, ...runnables], ports: { clock }, recover: 'manual', ...more });
    void this.run.cancelWhen?.then(() => this.app.cancel(sessionId, { by: 'operator', reason: 'enough' })).catch(() => undefined);
  }

  session(): Promise<Session> {
    const { shared } = this.run;
    return this.app.session({ id: this.sessionId, ...(shared === undefined ? {} : { userId: this.sessionId }) });
  }

  /** Starts the run. */
  async begin(): Promise<RunResult> {
    const session = await this.session();
    return this.#drive(this.app.run(this.run.runnable, { input, runId, session }));
  }

  /** Continues what the session has, or starts it. A run that has ended is asked for by its name, which gives what it gave. */
  goOn(events: readonly Event[]): Promise<RunResult> {
    const hasOpenRoot = openPaths(events).some((path) => path === runId || path.startsWith(`${runId}>`));
    return hasOpenRoot ? this.#drive(this.app.resume(this.sessionId)) : this.begin();
  }

  /** Gives the run back without ending it. */
  stop(): void {
    this.#isStopped = true;
    this.#running?.stop();
  }

  async #drive(first: Run): Promise<RunResult> {
    for (let running = first, turn = 0; ; turn++) {
      this.#running = running;
      if (this.#isStopped) running.stop();
      const result = await settledResult(running);
      if (result.status !== 'yielded' || this.#isStopped) return result;
      if (turn === 100) throw new Error(`The run of session "${this.sessionId}" still waits after 100 answers.`);
      await this.#answer(result);
      running = this.app.resume(this.sessionId);
    }
  }

  /** Answers the last question only, so that the others are asked and answered across stops. */
  async #answer({ session, pendingCalls, awaitingInput, yieldedInvocationId }: RunResult): Promise<void> {
    const pending = pendingCalls.findLast(({ accepted }) => !accepted);
    if (pending !== undefined) await this.#answerOne(pending);
    const { message } = this.run;
    if (pending !== undefined || !awaitingInput || message === undefined) return;
    session.addMessage(message(session.events.filter(({ type }) => type === 'user').length), yieldedInvocationId);
    await session.flush();
  }

  async #answerOne(pending: PendingCall): Promise<void> {
    const answer = this.run.answer?.(pending);
    if (answer === undefined) throw new Error(`The scenario has no answer to "${pending.name}".`);
    await this.app.answer(pending.requestId, { ...answer, by: 'user:ann' });
  }

  async outcome(result: RunResult): Promise<Outcome> {
    const { session } = result;
    // What was dispatched outlives the run: the session is idle when all of it has ended.
    await idle(session.events, () => session.ledger.durable());
    const { status, output, error, stopReason } = result;
    await this.app.close();
    return {
      result: { status, output, error, stopReason },
      state: session.ledger.state.scopes,
      projection: projection(session.events, session.ledger.resolve),
    };
  }
}

/** What was dispatched can end, or be given back, after the result. */
async function settledResult(running: Run): Promise<RunResult> {
  try {
    return await running;
  } finally {
    await running.settled();
  }
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

/** The same store for several processes: it closes with the last of them, whom nobody knows. */
export function shared(store: Store): Store {
  return { description: store.description, admin: store.admin, for: (scope) => store.for(scope), close: async () => undefined };
}
