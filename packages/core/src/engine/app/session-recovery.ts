import type { Clock } from '../../base/clock.ts';
import { isAdjutantError } from '../../base/error.ts';
import type { Host } from '../../base/host.ts';
import { visibleLine } from '../../base/text/visible-text.ts';
import type { Taken, TakeOptions, TakeReceipt } from '../../ledger/port.ts';
import { EmbeddedEngine, placeKey } from '../drive/embedded-engine.ts';
import type {
  Advanced,
  AdvanceSessionOptions,
  Engine,
  EnginePlace,
  EngineWork,
  TimeOptions,
  WakeOptions,
} from '../drive/engine.ts';
import { FreedPlaces } from '../drive/freed-places.ts';
import type { Run } from '../run/run.ts';
import { FailedTries } from './failed-tries.ts';

/** Maximum number of sessions that are continued at the same time, by default. */
export const defaultSlots = 100;
/** Interval in milliseconds at which unreferenced large values are removed. */
const sweepEveryMs = 3_600_000;

/** Turns that this process asks for. */
export type TakeRequest = Pick<TakeOptions, 'slots' | 'realtimeSlots' | 'levels'> & {
  /** @default all tenants that the app looks after */
  readonly tenant?: string | undefined;
};

export interface RecoveryParts {
  /** Chooses sessions that may run now, and claims them. */
  readonly take: (request: TakeRequest) => Promise<TakeReceipt>;
  /** Gives a claimed session back that is not worked on; it is not taken again before `at`. */
  readonly giveBack: (taken: Taken, at: number) => Promise<unknown>;
  /**
   * True when a session has a place in the queue, so that a post to it does not begin it at once.
   */
  readonly isQueued: (place: EnginePlace) => Promise<boolean>;
  readonly app: string;
  readonly clock: Clock;
  readonly host: Host;
  /** Engine of the app. @default the embedded one */
  readonly engine?: Engine | undefined;
  /** Maximum number of sessions that are continued at the same time. @default 100 */
  readonly atOnce?: number | undefined;
  /** Places for turns of the priority `realtime` besides. @default 1 */
  readonly realtimeAtOnce?: number | undefined;
  /** True while nothing new may begin. */
  readonly isGateClosed?: (() => boolean | Promise<boolean>) | undefined;
  /** Continues the open run of a session. */
  readonly resume: (place: EnginePlace, taken?: Taken) => Run;
  /** Returns true when this process works on a session, or must leave it alone. */
  readonly isActive: (place: EnginePlace) => boolean;
  /**
   * Calls `listener` when another process announces that it has released a run. Returns a
   * function that ends these calls.
   */
  readonly onReleased?: (listener: () => void) => () => void;
  /** Delivers messages between ledgers, and begins work on the sessions of services. */
  readonly lookAtServices: (tenant: string | undefined) => Promise<unknown>;
  /** Removes large values without a reference. */
  readonly sweep: () => Promise<unknown>;
}

/**
 * Finder of stopped runs, which continues them. Their process died, or the answer they waited for
 * has come. A session that cannot be continued here, such as one without its runnable, is left as
 * it is. It is tried again after ever longer pauses.
 */
export class SessionRecovery {
  readonly #parts: RecoveryParts;
  readonly #failures: FailedTries;
  readonly #freed: FreedPlaces;
  readonly #running = new Map<Run, Taken | undefined>();
  /**
   * Sessions that recovery has begun to continue. Due ones stay until their run has a result. Those
   * that this process held stay until their run has settled.
   */
  readonly #taken = new Set<string>();
  #cancelSweep: () => void = () => undefined;
  #forgetReleases: () => void = () => undefined;
  readonly #looking = new Map<string | undefined, Promise<readonly Run[]>>();
  #isAutomatic = false;
  #engine: Engine;
  #started: Promise<void> = Promise.resolve();
  #hasWarnedOfServices = false;
  #stopped = false;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
    this.#engine = parts.engine ?? new EmbeddedEngine();
    const { atOnce = defaultSlots, clock, host } = parts;
    this.#failures = new FailedTries(clock);
    this.#freed = new FreedPlaces(host, atOnce, () => this.hint());
  }

  /** True when recovery looks for due sessions repeatedly. */
  get isAutomatic(): boolean {
    return this.#isAutomatic;
  }

  /** Keeps runs moving; it is started with the recovery. */
  get engine(): Engine {
    return this.#engine;
  }

  /**
   * Lets the engine give work, from now on.
   * @param engine @default that of the options
   * @throws errors of the engine
   */
  async start(engine?: Engine): Promise<void> {
    if (!this.#isAutomatic) {
      this.#isAutomatic = true;
      if (engine !== undefined) this.#engine = engine;
      this.#armSweep();
      if (this.#engine.isShared !== true)
        this.#forgetReleases = this.#parts.onReleased?.(() => this.hint()) ?? this.#forgetReleases;
      this.#started = this.#engine.start(this.#work()).catch((error: unknown) => {
        // It may be started again.
        this.#isAutomatic = false;
        this.#cancelSweep();
        this.#forgetReleases();
        throw error;
      });
    }
    await this.#started;
  }

  #work(): EngineWork {
    const { app, atOnce = defaultSlots, clock, host } = this.#parts;
    const isLooking = (): boolean => this.#looking.has(undefined);
    return {
      ...{ app, clock, host, slots: atOnce },
      get isLooking() {
        return isLooking();
      },
      look: async (places) => {
        const posted = await this.#begunOf(places);
        const runs = await this.look();
        return posted.length + runs.length;
      },
      advance: (place, options) => this.#advance(place, options),
    };
  }

  #armSweep(): void {
    this.#cancelSweep = this.#parts.host.setBackgroundTimer(sweepEveryMs, () => {
      void this.#parts
        .sweep()
        .catch((error: unknown) =>
          this.#warn('Large values that nothing refers to could not be removed', error),
        )
        .then(() => (this.#stopped ? undefined : this.#armSweep()));
    });
  }

  stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelSweep();
    this.#forgetReleases();
    this.#freed.stop();
    return this.#engine.stop();
  }

  /**
   * Announces that a session may be due. `posted` names a session that received an entry and that
   * this process does not work on.
   */
  hint(posted?: EnginePlace, options?: WakeOptions): void {
    if (!this.#isAutomatic || this.#stopped) return;
    // An entry is a reason to try again what was of no use before.
    if (posted !== undefined) this.#failures.forget(placeKey(posted));
    this.#engine.wake(posted, options);
  }

  /** Announces that a session that this process does not work on received a cancel. */
  cancel(posted: EnginePlace): void {
    if (!this.#isAutomatic || this.#stopped) return;
    this.#failures.forget(placeKey(posted));
    this.#engine.cancel(posted);
  }

  /** Continues a lane of a session that this process holds, so that nobody can take it. */
  resumeHeld(place: EnginePlace): void {
    const { isActive } = this.#parts;
    const key = placeKey(place);
    if (!this.#isAutomatic || this.#stopped || isActive(place) || !this.#mayTry(key)) return;
    const run = this.#follow(place);
    this.#taken.add(key);
    void run.settled().then(() => this.#taken.delete(key));
  }

  #mayTry(key: string): boolean {
    return !this.#taken.has(key) && this.#failures.mayTry(key);
  }

  /** Announces a time at which a released session becomes due. */
  wakeAt(at: number, place?: EnginePlace, options?: TimeOptions): void {
    if (this.#isAutomatic && !this.#stopped) this.#engine.schedule(at, place, options);
  }

  /**
   * Continues the due sessions and returns their runs.
   * @param tenant @default all tenants that the app looks after
   * @throws StoreUnavailableError
   */
  look(tenant?: string): Promise<readonly Run[]> {
    let looking = this.#looking.get(tenant);
    if (looking === undefined) {
      looking = this.#continueDue(tenant).finally(() => this.#looking.delete(tenant));
      this.#looking.set(tenant, looking);
    }
    return looking;
  }

  async #continueDue(tenant: string | undefined): Promise<readonly Run[]> {
    await this.#lookAtServices(tenant);
    const free = await this.#free();
    const { clock, take } = this.#parts;
    const began = clock.monotonic();
    const { nextAt, taken } = await take({ ...free, tenant });
    const work = taken.filter(({ isControl }) => !isControl);
    this.#freed.looked(free.slots, work.length, clock.monotonic() - began);
    if (nextAt !== null) this.wakeAt(nextAt);
    return this.begin(taken);
  }

  async #lookAtServices(tenant: string | undefined): Promise<void> {
    await this.#parts.lookAtServices(tenant).catch((error: unknown) => {
      // Runs go on: a store may have no place for services, and says so at each look.
      if (!this.#hasWarnedOfServices) this.#warn('The services could not be looked at', error);
      this.#hasWarnedOfServices = true;
    });
  }

  /** Works on one session, or on the next one of the queue, until that has ended. */
  async #advance(
    place: EnginePlace | undefined,
    { signal, onBegin }: AdvanceSessionOptions = {},
  ): Promise<Advanced> {
    // A wake from another process is a reason to try again, as an entry is.
    if (place !== undefined) this.#failures.forget(placeKey(place));
    const posted = place === undefined ? [] : await this.#begunOf([place]);
    await this.#lookAtServices(undefined);
    const free = await this.#free();
    // One that was begun at once needs no turn; control work comes with every call.
    const slots = posted.length > 0 ? 0 : Math.min(1, free.slots);
    const { nextAt, taken } = await this.#parts.take({ ...free, slots });
    if (nextAt !== null) this.wakeAt(nextAt);
    const runs = [...posted, ...this.begin(taken)];
    onBegin?.(runs.length);
    const ended = Promise.all(runs.map((run) => run.settled()));
    await (signal === undefined ? ended : Promise.race([ended, aborted(signal)]));
    return { began: runs.length };
  }

  /** Continues sessions that this process has taken; gives those back that it cannot work on. */
  begin(taken: readonly Taken[]): readonly Run[] {
    const runs: Run[] = [];
    for (const each of taken) {
      const key = placeKey(each);
      if (this.#stopped || !this.#mayTry(key) || this.#parts.isActive(each)) this.#giveBack(each);
      else runs.push(this.#continue(each, each));
    }
    return runs;
  }

  /** Takes one turn of certain levels more than there are places for. */
  async takeAbove(levels: readonly number[]): Promise<readonly Taken[]> {
    if (this.#stopped || levels.length === 0) return [];
    const { taken } = await this.#parts.take({ slots: 1, levels });
    // Control work comes with every look, and needs no place.
    this.begin(taken.filter(({ isControl }) => isControl));
    return taken.filter(({ isControl }) => !isControl);
  }

  /** Continues those of the sessions that wait for no turn. */
  async #begunOf(places: readonly EnginePlace[]): Promise<readonly Run[]> {
    const runs: Run[] = [];
    for (const place of places) {
      if (await this.#parts.isQueued(place)) continue;
      // Another look may have begun to continue it meanwhile.
      const key = placeKey(place);
      if (!this.#stopped && this.#mayTry(key) && !this.#parts.isActive(place))
        runs.push(this.#continue(place));
    }
    return runs;
  }

  #continue(place: EnginePlace, taken?: Taken): Run {
    const key = placeKey(place);
    const run = this.#follow(place, taken);
    const forget = (): boolean => this.#taken.delete(key);
    this.#taken.add(key);
    run.then(forget, forget);
    return run;
  }

  /** Places that are free; none while the gate is closed. Control work needs none. */
  async #free(): Promise<Pick<TakeRequest, 'slots' | 'realtimeSlots'>> {
    const { atOnce = defaultSlots, realtimeAtOnce = 1 } = this.#parts;
    const working = [...this.#running.values()].filter((taken) => taken?.isControl !== true);
    const realtime = working.filter((taken) => taken?.turn.level === 0).length;
    const reserved = Math.min(realtime, realtimeAtOnce);
    const realtimeSlots = realtimeAtOnce - reserved;
    if (await this.isGateClosed()) return { slots: 0, realtimeSlots };
    return { slots: Math.max(0, atOnce - (working.length - reserved)), realtimeSlots };
  }

  /** Asks the gate. One that fails is open: a broken microphone must not stop all work. */
  async isGateClosed(): Promise<boolean> {
    try {
      return (await this.#parts.isGateClosed?.()) ?? false;
    } catch (error) {
      this.#warn('The realtime gate could not be asked and counts as open', error);
      return false;
    }
  }

  #follow(place: EnginePlace, taken?: Taken): Run {
    const key = placeKey(place);
    const run = this.#parts.resume(place, taken);
    this.#running.set(run, taken);
    run.then(
      () => this.#failures.forget(key),
      (error: unknown) => {
        this.#failed(place, error);
        if (taken !== undefined) this.#giveBack(taken);
      },
    );
    // A run with a result works no more: its place is free before its claim is given back, so that
    // a look that comes at once finds the place.
    const leave = (): boolean => this.#running.delete(run);
    run.then(leave, leave);
    // Sessions that waited for a free place are still due.
    void run.settled().then(() => this.#freed.freed());
    return run;
  }

  /** Gives a session back. After a failure of its own nobody takes it for a while. */
  #giveBack(taken: Taken): void {
    const at = this.#failures.pausedUntil(placeKey(taken));
    void this.#parts.giveBack(taken, at).catch(() => undefined);
  }

  #failed(place: EnginePlace, error: unknown): void {
    if (this.#failures.note(placeKey(place), error))
      this.#warn(`Session "${place.session}" could not be continued`, error);
  }

  /** Reports a failure as a warning of the process: no caller awaits the work of recovery. */
  #warn(what: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const warningCode = isAdjutantError(error) ? error.code : 'recovery_failed';
    this.#parts.host.warn(visibleLine(`${what}: ${message}`), warningCode);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
