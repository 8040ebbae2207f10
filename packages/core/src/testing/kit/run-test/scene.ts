import { type TestClock, testClock } from '../../../base/clocks/test-clock.ts';
import type { JsonValue } from '../../../base/json.ts';
import { InvalidRunError } from '../../../engine/frame/errors.ts';
import type { RunOptions } from '../../../engine/frame/run-options.ts';
import { openRoot } from '../../../engine/run/root-run.ts';
import type { RunResult } from '../../../engine/run/run.ts';
import type { Store } from '../../../ledger/port.ts';
import { type PendingCall, pendingCalls } from '../../../session/pending-call.ts';
import type { Runnable } from '../../../session/runnable.ts';
import type { Session } from '../../../session/session.ts';
import { memoryStore } from '../../../stores/memory.ts';
import { writeState } from '../seed-state.ts';
import type { RunTestOptions } from './options.ts';
import { activeResources, type Rest, rest, settle } from './quiet.ts';
import type { TestModelCall } from './steps.ts';
import { TestProcess } from './test-process.ts';

/** How what is under way was asked for: a new process asks for the same. */
type Asked = { readonly kind: 'run'; readonly options: RunOptions } | { readonly kind: 'resume' };

const defaultPatienceMs = 2_000;

/** What a test runs: the runnable on a session, in one process after the other. */
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
  #asked: Asked | undefined;
  #turns = 0;

  constructor(runnable: Runnable, options: RunTestOptions, isAwaited: (tool: string) => boolean) {
    this.#runnable = runnable;
    this.#options = options;
    this.#isAwaited = isAwaited;
    // A store that goes by a time of its own must not be months away from the clock of the test.
    this.clock =
      options.clock ?? (typeof options.store === 'object' ? testClock(Date.now()) : testClock());
    const { store = (clock: TestClock) => memoryStore({ clock }) } = options;
    this.#store = typeof store === 'function' ? store(this.clock) : store;
    this.#process = this.#begin();
  }

  get process(): TestProcess {
    return this.#process;
  }

  get session(): Session {
    if (this.#session === undefined)
      throw new InvalidRunError({ reason: 'the session of the test is not open yet' });
    return this.#session;
  }

  get pending(): readonly PendingCall[] {
    return pendingCalls(this.session.ledger).filter(({ accepted }) => !accepted);
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
        ports: { random, ...(ids === undefined ? {} : { ids }) },
      },
      calls: this.calls,
      nextId: () => `call_${++this.#callIds}`,
      isAwaited: this.#isAwaited,
    });
  }

  /** Opens the session with what the test begins with. */
  async open(): Promise<void> {
    const { from, session: options = {}, state, prepare } = this.#options;
    const { app } = this.#process;
    if (from !== undefined) {
      const copied = await app.restoreSession({
        ...from,
        ...(options.id === undefined ? {} : { id: options.id }),
      });
      this.#session = (await app.session({
        ...options,
        id: copied.id,
        existing: 'open',
      })) as Session;
    } else this.#session = (await app.session(options)) as Session;
    if (state !== undefined) writeState(this.#session, state);
    await prepare?.(this.#session);
    await this.#session.flush();
    if (this.#session.ledger.claim !== undefined) await this.#session.ledger.release();
  }

  /** Starts a run, or goes on with the open one. */
  start(input: string | undefined, data: JsonValue | undefined): void {
    const { limits, timeout, permissions, onStream } = this.#options;
    const { byPath } = this.session.ledger.invocations;
    do this.#turns++;
    while (byPath.has(`run_${this.#turns}`));
    this.#ask({
      kind: 'run',
      options: {
        runId: `run_${this.#turns}`,
        ...(input === undefined ? {} : { input }),
        ...(data === undefined ? {} : { data }),
        ...(limits === undefined ? {} : { limits }),
        ...(timeout === undefined ? {} : { timeout }),
        ...(permissions === undefined ? {} : { permissions }),
        ...(onStream === undefined ? {} : { onStream }),
      },
    });
  }

  /** Goes on with what waited, now that an answer or its time has come. */
  resume(): void {
    if (!this.#process.isActive) this.#ask({ kind: 'resume' });
  }

  #ask(asked: Asked): void {
    this.#keepResult();
    this.#asked = asked;
    const { app } = this.#process;
    const { session } = this;
    const { onStream } = this.#options;
    const run =
      asked.kind === 'run'
        ? app.run(this.#runnable, { ...asked.options, session })
        : app.resume(session, onStream === undefined ? {} : { onStream });
    this.#process.follow(run);
  }

  /** The last result of each run: one that waited and went on has one. */
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

  get hasBegun(): boolean {
    return this.#asked !== undefined;
  }

  /** Whether a run has not ended: it is under way, or waits for somebody. */
  get isOpen(): boolean {
    return this.#process.isActive || openRoot(this.session) !== undefined;
  }

  /** Whether something waits in the inbox of a run that nobody works on. */
  async isTold(): Promise<boolean> {
    const { app } = this.#process;
    if (this.#process.isActive || openRoot(this.session) === undefined) return false;
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

  /** Throws the process away and begins another, which goes on with what was under way. */
  async crash(): Promise<void> {
    const before = this.#process;
    this.#keepResult();
    await before.crash();
    const { isActive } = before;
    this.#process = this.#begin();
    const { session: options = {} } = this.#options;
    this.#session = (await this.#process.app.session({
      ...options,
      id: this.session.id,
      existing: 'open',
    })) as Session;
    if (this.#session.ledger.claim !== undefined && !isActive) await this.#session.ledger.release();
    if (isActive && this.#asked !== undefined) this.#ask(this.#asked);
  }

  /** Stops everything without a trace, after a failure. */
  async abandon(): Promise<void> {
    await this.#process.crash();
  }
}
