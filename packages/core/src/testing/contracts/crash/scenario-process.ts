import { afterThisTurn } from '../../../base/clock.ts';
import { defined } from '../../../base/defined.ts';
import { InvalidOptionError } from '../../../base/invalid-option.ts';
import type { RequestAnswer } from '../../../engine/requests/check.ts';
import type { Run, RunResult } from '../../../engine/run/run.ts';
import type { Event } from '../../../ledger/event.ts';
import { belongsTo, isBelow } from '../../../ledger/path.ts';
import type { LedgerStore, Store } from '../../../ledger/port.ts';
import { Runtime } from '../../../runtime.ts';
import type { PendingRequest } from '../../../session/pending-request.ts';
import type { Session } from '../../../session/session.ts';
import { ProcessClock } from '../../kit/process-clock.ts';
import { tickingClock } from '../../kit/ticking-clock.ts';
import type { CrashScenario, Execution, MakeScenario } from './crash-scenario.ts';
import { ExecutionCount } from './execution-count.ts';
import { ledgerProjection } from './ledger-projection.ts';

const runId = 'run';
const besideId = 'beside';
const defaultPauseMs = 3_600_000;
/**
 * Start time of all first processes. Values that a body derives from the time of its start are then
 * equal.
 */
const firstStart = Date.now();
const mostTurns = 100;
/** Milliseconds by which a process is woken too early: timers of real ones are not exact. */
const earlyMs = 40;

/** The outcome of a run. */
export interface ScenarioOutcome {
  readonly result: Pick<RunResult, 'status' | 'output' | 'error' | 'stopReason'>;
  readonly state: unknown;
  readonly projection: Readonly<Record<string, readonly unknown[]>>;
}

/** The store and the tenant of a run's ledger. */
export interface RunPlace {
  readonly store: Store;
  /**
   * The store behind one that stops.
   * @default `store`
   */
  readonly behind?: Store;
  readonly tenant: string;
  readonly session: string;
  /**
   * True when every event is sent at once, as where models and tools take their time.
   * @default events gather for up to 2 ms, as in the runtime
   */
  readonly isHasty?: boolean;
}

/**
 * A process that works on one run of a scenario. It answers and cancels the run. Its definitions
 * and its runtime are its own, as those of a new process are.
 */
export class ScenarioProcess {
  readonly app: Runtime;
  readonly scenario: CrashScenario;
  readonly place: RunPlace;
  readonly #clock: ProcessClock;
  readonly #count: ExecutionCount;
  /** The runs under way. */
  readonly #running = new Set<Run>();
  #isStopped = false;
  #isHurried = false;

  /**
   * @param events the events of the ledger: the process starts long after the last of them, and no
   * process is at work in between
   */
  constructor(make: MakeScenario, place: RunPlace, events: readonly Event[] = []) {
    this.scenario = make();
    this.place = place;
    const { runnable, app = {}, pauseMs = defaultPauseMs } = this.scenario;
    const last = events.at(-1);
    this.#clock = new ProcessClock(
      tickingClock(last === undefined ? firstStart : last.at + pauseMs),
    );
    const { store, tenant } = place;
    const beside = this.scenario.beside === undefined ? [] : [this.scenario.beside.runnable];
    const runnables = [runnable, ...beside, ...(app.runnables ?? [])];
    this.app = new Runtime({
      app: defaultApp,
      ...app,
      tenant,
      store,
      runnables,
      ports: { clock: this.#clock },
      recover: 'manual',
    });
    this.#count = new ExecutionCount(this.#clock);
    const { cancelWhen, interruptWhen } = this.scenario;
    void cancelWhen
      ?.then(() => this.app.cancel(place.session, { by: 'operator', reason: 'enough' }))
      .catch(() => undefined);
    void interruptWhen
      ?.then(() => this.app.interrupt(place.session, { by: 'user:ann' }))
      .catch(() => undefined);
  }

  /**
   * The ledgers of its app. They are read around the store of the process, which may have stopped.
   */
  get ledgers(): LedgerStore {
    const { behind = this.place.store, tenant } = this.place;
    return behind.for({ tenant, app: this.app.app });
  }

  /** The executions so far. */
  get executions(): readonly Execution[] {
    return this.#count.executions;
  }

  async session(): Promise<Session> {
    const session = await this.app.sessions.open({
      ...this.scenario.session,
      id: this.place.session,
    });
    if (this.place.isHasty !== true || this.#isHurried) return session;
    this.#isHurried = true;
    const { ledger } = session;
    ledger.onDraft(() => void ledger.durable()?.catch(() => undefined));
    return session;
  }

  /** Starts the runs. */
  begin(): Promise<RunResult> {
    return this.goOn([]);
  }

  /**
   * Continues the runs of the session, or starts them. A run that has ended is requested by its id,
   * which returns its result again.
   */
  async goOn(events: readonly Event[]): Promise<RunResult> {
    const { beside } = this.scenario;
    const first = this.#work(events, runId);
    if (beside === undefined) return first;
    const [own, other] = await Promise.allSettled([first, this.#work(events, besideId)]);
    if (own.status === 'rejected') throw own.reason;
    if (other.status === 'rejected') throw other.reason;
    return own.value;
  }

  async #work(events: readonly Event[], id: string): Promise<RunResult> {
    const lane = id === besideId ? this.scenario.beside?.lane : undefined;
    const isOpen = openInvocations(events).some(
      (path) => belongsTo(path, id) && !isBelow(path, id),
    );
    if (!isOpen) return this.#drive(this.#start(await this.session(), id), lane);
    if (this.place.isHasty === true) await this.session();
    return this.#drive(this.app.resume(this.place.session, defined({ lane })), lane);
  }

  #start(session: Session, id: string): Run {
    const { beside, runnable, input = 'Go', data, model } = this.scenario;
    if (id === runId || beside === undefined)
      return this.app.run(runnable, { input, ...defined({ data, model }), runId, session });
    const { lane, input: message = 'Go' } = beside;
    return this.app.run(beside.runnable, { input: message, lane, runId: besideId, session });
  }

  /** Releases the runs without ending them. */
  stop(): void {
    this.#isStopped = true;
    for (const run of this.#running) run.stop();
  }

  /** Ends the process: code of it that still runs does nothing that counts. */
  end(): void {
    this.#count.end();
    this.#clock.end();
  }

  async #drive(first: Run, lane: string | undefined): Promise<RunResult> {
    for (let running = first, turn = 0; ; turn++) {
      this.#running.add(running);
      if (this.#isStopped) running.stop();
      const result = await settledResult(running);
      this.#running.delete(running);
      if (this.isOver(result) || this.#isStopped) return result;
      if (turn === mostTurns)
        throw new InvalidOptionError({
          function: 'crashPoints',
          reason: `the run has no end after ${mostTurns} answers and repairs`,
        });
      if (result.status === 'yielded') await this.#answer(result);
      else await this.scenario.repair?.(this.app, result);
      running = this.app.resume(this.place.session, defined({ lane }));
    }
  }

  /** True when a run does not wait, and is not to be repaired. */
  isOver({ status }: RunResult): boolean {
    return status !== 'yielded' && (status !== 'error' || this.scenario.repair === undefined);
  }

  /**
   * Answers the last question only, so that the others are asked and answered across stops. A run
   * that only sleeps is continued right before its time has come, and has to wait for the rest.
   */
  async #answer({
    session,
    pendingCalls,
    awaitingInput,
    sleepsUntil,
    yieldedInvocationId,
  }: RunResult): Promise<void> {
    const pending = pendingCalls.findLast(({ accepted }) => !accepted);
    if (pending !== undefined) {
      const { requestId } = pending;
      const answer = this.#answerTo(pending);
      const by = 'user:ann';
      if (typeof answer === 'string')
        await this.app.send(session, answer, { by, clientKey: requestId });
      else await this.app.requests.answer(requestId, { by, ...answer });
      return;
    }
    if (!awaitingInput) {
      if (sleepsUntil !== undefined) this.#clock.skipTo(sleepsUntil - earlyMs);
      return;
    }
    const { message } = this.scenario;
    if (message === undefined) {
      throw new InvalidOptionError({
        function: 'crashPoints',
        reason: 'the run waits for a message of the user: give it with `message`',
      });
    }
    session.addMessage(
      message(session.events.filter(({ type }) => type === 'user').length),
      yieldedInvocationId,
    );
    await session.flush();
  }

  #answerTo(pending: PendingRequest): RequestAnswer | string {
    const { answers } = this.scenario;
    const answer = typeof answers === 'function' ? answers(pending) : answers?.[pending.name];
    if (answer !== undefined) return answer;
    const reason =
      `the run waits for an answer to "${pending.name}" (${pending.kind}): give it with ` +
      '`answers`';
    throw new InvalidOptionError({ function: 'crashPoints', reason });
  }

  async outcome(result: RunResult): Promise<ScenarioOutcome> {
    const { session, status, output, error, stopReason } = result;
    // Detached work outlives the run: the session is idle when all of it has ended.
    await idle(session.events, () => session.ledger.durable());
    await this.app.close();
    this.end();
    return {
      result: { status, output, error, stopReason },
      state: session.ledger.state.scopes,
      projection: ledgerProjection(session),
    };
  }
}

/** Name of the app of a scenario that names none. */
export const defaultApp = 'crash-points';

/** Returns the result when detached work, which can end or be released after it, has settled. */
async function settledResult(running: Run): Promise<RunResult> {
  try {
    return await running;
  } finally {
    await running.settled();
  }
}

async function idle(
  events: readonly Event[],
  flush: () => Promise<void> | undefined,
): Promise<void> {
  for (let turn = 0; turn < 1_000 && openInvocations(events).length > 0; turn++) {
    await new Promise<void>((resolve) => afterThisTurn(resolve));
  }
  await flush();
}

/** Paths of the invocations that have no end, in the order in which they began. */
export function openInvocations(events: readonly Event[]): readonly string[] {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'invocation_start' || event.type === 'invocation_reopen')
      open.add(event.invocationId);
    if (event.type === 'invocation_end') open.delete(event.invocationId);
  }
  return [...open];
}
