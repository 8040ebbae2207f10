import { type TestClock, testClock } from '../../../base/clocks/test-clock.ts';
import { defined } from '../../../base/defined.ts';
import type { JsonValue } from '../../../base/json.ts';
import { InvalidRunError } from '../../../engine/frame/errors.ts';
import type { RunOptions, SessionOptions } from '../../../engine/frame/run-options.ts';
import { openRoot } from '../../../engine/run/root-run.ts';
import type { Run, RunResult } from '../../../engine/run/run.ts';
import { defaultLane, laneAt, laneMember } from '../../../ledger/folds/lanes.ts';
import type { Store } from '../../../ledger/port.ts';
import { type PendingRequest, pendingCalls } from '../../../session/pending-request.ts';
import type { Runnable } from '../../../session/runnable.ts';
import type { Session } from '../../../session/session.ts';
import { memoryStore } from '../../../stores/memory.ts';
import { writeState } from '../seed-state.ts';
import type { RunTestOptions } from './options.ts';
import { activeResources, type Rest, rest, settle } from './quiet.ts';
import type { TestModelCall } from './steps.ts';
import { TestProcess } from './test-process.ts';

/** The call that began the work under way: a new process repeats it. */
type Asked = { readonly kind: 'run'; readonly options: RunOptions } | { readonly kind: 'resume' };

const defaultPatienceMs = 2_000;

/** The runnable and the session of a test, in one process after the other. */
export class Scene {
  readonly clock: TestClock;
  readonly calls: TestModelCall[] = [];
  readonly results: RunResult[] = [];
  readonly #runnable: Runnable;
  readonly #options: RunTestOptions;
  readonly #store: Store;
  readonly #isAwaited: (tool: string) => boolean;
  readonly #resourcesBefore = activeResources();
  #callIds = 0;
  #process: TestProcess;
  #session: Session | undefined;
  /** Options with which a new process opens the session. */
  #opening: SessionOptions;
  #asked: Asked | undefined;
  #turns = 0;

  constructor(runnable: Runnable, options: RunTestOptions, isAwaited: (tool: string) => boolean) {
    this.#runnable = runnable;
    this.#options = options;
    this.#isAwaited = isAwaited;
    this.#opening = options.session ?? {};
    // A store with a clock of its own must not be months away from the clock of the test.
    this.clock =
      options.clock ?? (typeof options.store === 'object' ? testClock(Date.now()) : testClock());
    const { store = (clock: TestClock) => memoryStore({ clock }) } = options;
    this.#store = typeof store === 'function' ? store(this.clock) : store;
    this.#process = this.#begin();
  }

  get store(): Store {
    return this.#store;
  }

  get process(): TestProcess {
    return this.#process;
  }

  get session(): Session {
    if (this.#session === undefined)
      throw new InvalidRunError({ reason: 'the session of the test is not open yet' });
    return this.#session;
  }

  /** Lane of the runs of the test. */
  get lane(): string {
    return this.#options.lane ?? defaultLane;
  }

  /** Requests of the lane of the test that have no answer. */
  get pending(): readonly PendingRequest[] {
    const { ledger } = this.session;
    return pendingCalls(ledger).filter(
      ({ accepted, invocationId }) =>
        !accepted && laneAt(ledger.invocations, invocationId) === this.lane,
    );
  }

  /** Sends a message to the run of the test. */
  async send(text: string): Promise<void> {
    await this.#process.app.send(this.session, text, laneMember(this.lane));
  }

  #begin(): TestProcess {
    const { runtime = {}, ids, random = { next: () => 0.5 } } = this.#options;
    return new TestProcess({
      store: this.#store,
      clock: this.clock,
      options: {
        app: 'test',
        ...runtime,
        runnables: [
          this.#runnable,
          ...(runtime.runnables ?? []).filter((one) => one !== this.#runnable),
        ],
        ports: { random, ...defined({ ids }) },
      },
      calls: this.calls,
      nextId: () => `call_${++this.#callIds}`,
      isAwaited: this.#isAwaited,
    });
  }

  /** Opens the session with the state and the events that the test begins with. */
  async open(): Promise<void> {
    const { from, session: options = {}, state, prepare } = this.#options;
    const { app } = this.#process;
    if (from !== undefined) {
      const copied = await app.sessions.restore({
        ...from,
        ...defined({ id: options.id }),
      });
      this.#session = (await app.sessions.open({
        ...options,
        id: copied.id,
        existing: 'open',
      })) as Session;
    } else this.#session = (await app.sessions.open(options)) as Session;
    if (state !== undefined) writeState(this.#session, state);
    await prepare?.(this.#session);
    await this.#session.flush();
    if (this.#session.ledger.lease.claim !== undefined) await this.#session.ledger.release();
  }

  /** Starts a run, or goes on with the open one. */
  start(input: string | undefined, data: JsonValue | undefined): void {
    const { lane, limits, model, timeoutMs, permissions, onStream } = this.#options;
    const { byPath } = this.session.ledger.invocations;
    do this.#turns++;
    while (byPath.has(`run_${this.#turns}`));
    this.#ask({
      kind: 'run',
      options: {
        runId: `run_${this.#turns}`,
        ...defined({ input, data, lane, limits, model, timeoutMs, permissions, onStream }),
      },
    });
  }

  /** Resumes a run that waited, now that an answer has come or its time is over. */
  resume(): void {
    if (!this.#process.isActive) this.#ask({ kind: 'resume' });
  }

  #ask(asked: Asked): void {
    this.#keepResult();
    this.#asked = asked;
    const { app } = this.#process;
    const { session } = this;
    const { lane, onStream } = this.#options;
    const run =
      asked.kind === 'run'
        ? app.run(this.#runnable, { ...asked.options, session })
        : app.resume(session, defined({ lane, onStream }));
    this.#process.follow(run);
  }

  /** Keeps the last result of each run: a run that waited and went on has one. */
  #keepResult(): void {
    const { outcome } = this.#process;
    if (outcome === undefined || !('result' in outcome)) return;
    const at = this.results.findIndex(({ runId }) => runId === outcome.result.runId);
    if (at < 0) this.results.push(outcome.result);
    else this.results[at] = outcome.result;
  }

  /** The results so far. */
  takeResults(): readonly RunResult[] {
    this.#keepResult();
    return this.results;
  }

  /**
   * Makes a run that began by itself the run of the test, if it is one of the runnable under test
   * and no other one is open.
   */
  async adopt(run: Run): Promise<void> {
    if (this.isOpen) return;
    const begun = await run.accepted().catch(() => undefined);
    if (begun === undefined) return;
    const { app } = this.#process;
    const session = (await app.sessions.open({ id: begun.session, existing: 'open' })) as Session;
    const root = session.ledger.invocations.byPath.get(begun.runId);
    if (root?.name !== this.#runnable.name) return;
    this.#keepResult();
    this.#session = session;
    this.#opening = {};
    this.#asked = { kind: 'resume' };
    this.#process.follow(run);
  }

  get hasBegun(): boolean {
    return this.#asked !== undefined;
  }

  get #hasOpenRun(): boolean {
    return openRoot(this.session, this.lane) !== undefined;
  }

  /** True when a run has not ended: it is under way, or waits for an answer. */
  get isOpen(): boolean {
    return this.#process.isActive || this.#hasOpenRun;
  }

  /** True when an item waits in the inbox of an open run that is not under way. */
  async isTold(): Promise<boolean> {
    const { app } = this.#process;
    if (this.#process.isActive || !this.#hasOpenRun) return false;
    return (
      (await this.#store.for({ tenant: app.tenant, app: app.app }).inbox(this.session.id)).length >
      0
    );
  }

  #quietParts() {
    const { patienceMs = defaultPatienceMs } = this.#options;
    return {
      process: this.#process,
      ledger: () => this.#session?.ledger,
      patienceMs,
      resourcesBefore: this.#resourcesBefore,
    };
  }

  rest(): Promise<Rest> {
    return rest(this.#quietParts());
  }

  settle(): Promise<void> {
    return settle(this.#quietParts());
  }

  /** Stops the process and begins another, which continues the work that was under way. */
  async crash(): Promise<void> {
    const before = this.#process;
    this.#keepResult();
    await before.crash();
    const { isActive } = before;
    this.#process = this.#begin();
    this.#session = (await this.#process.app.sessions.open({
      ...this.#opening,
      id: this.session.id,
      existing: 'open',
    })) as Session;
    if (this.#session.ledger.lease.claim !== undefined && !isActive)
      await this.#session.ledger.release();
    if (isActive && this.#asked !== undefined) this.#ask(this.#asked);
  }

  /** Stops everything without a trace, after a failure. */
  async abandon(): Promise<void> {
    await this.#process.crash();
  }
}
