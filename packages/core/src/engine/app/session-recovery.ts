import type { Clock } from '../../base/clock.ts';
import { isAdjutantError } from '../../base/error.ts';
import type { Host } from '../../base/host.ts';
import { visibleLine } from '../../base/text/visible-text.ts';
import type { DueSession, Taken, TakeOptions, TakeReceipt } from '../../ledger/port.ts';
import { StoreClock } from '../../ledger/store-clock.ts';
import type { Run } from '../run/run.ts';

/**
 * Interval in milliseconds at which the store is asked for due sessions, while nothing is found.
 */
const idleLookMs = 5_000;
/** The same for a time after something was found: more may come from other processes. */
const busyLookMs = 1_000;
const busyForMs = 30_000;
/** Pause in milliseconds after a session could not be continued, at first and at most. */
const firstPauseMs = 10_000;
const longestPauseMs = 600_000;
/**
 * Pause in milliseconds before another process takes a session that this one cannot continue.
 * Without it such a session would be the first that all processes take, each time.
 */
const lackingPauseMs = 1_000;
/** Maximum number of sessions that are continued at the same time, by default. */
export const defaultSlots = 100;
/**
 * Number of timers that fire at the exact time, and the unit in milliseconds to which others round
 * up.
 */
const exactWakes = 64;
const coarseMs = 1_000;
/** Interval in milliseconds at which unreferenced large values are removed. */
const sweepEveryMs = 3_600_000;

interface FailedTries {
  readonly times: number;
  readonly until: number;
  /** True when another process may be able to go on with the session now. */
  readonly isOfThisProcess: boolean;
}

/** Codes of failures by what this process lacks, and not by the session. */
const lacking: ReadonlySet<string> = new Set([
  'unknown_runnable',
  'ledger_mismatch',
  'runnable_mismatch',
  'key_unavailable',
]);

/** Tenant and id of a session of the app. */
export type SessionPlace = Pick<DueSession, 'tenant' | 'session'> & {
  /** Lane whose run is meant. @default any */
  readonly lane?: string;
};

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
  readonly isQueued: (place: SessionPlace) => Promise<boolean>;
  readonly clock: Clock;
  readonly host: Host;
  /** Maximum number of sessions that are continued at the same time. @default 100 */
  readonly atOnce?: number | undefined;
  /** Places for turns of the priority `realtime` besides. @default 1 */
  readonly realtimeAtOnce?: number | undefined;
  /** True while nothing new may begin. */
  readonly isGateClosed?: (() => boolean | Promise<boolean>) | undefined;
  /** Continues the open run of a session. */
  readonly resume: (place: SessionPlace, taken?: Taken) => Run;
  /** Returns true when this process works on a session, or must leave it alone. */
  readonly isActive: (place: SessionPlace) => boolean;
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
  readonly #failures = new Map<string, FailedTries>();
  readonly #running = new Map<Run, Taken | undefined>();
  /**
   * Sessions that recovery has begun to continue. Due ones stay until their run has a result. Those
   * that this process held stay until their run has settled.
   */
  readonly #taken = new Set<string>();
  /**
   * Sessions to which an entry was posted here: a person's answer does not wait for other sessions.
   */
  readonly #posted = new Map<string, SessionPlace>();
  #cancelTimer: () => void = () => undefined;
  #cancelSweep: () => void = () => undefined;
  #forgetReleases: () => void = () => undefined;
  readonly #wakes = new Map<number, () => void>();
  readonly #looking = new Map<string | undefined, Promise<readonly Run[]>>();
  #isAutomatic = false;
  /** Monotonic time at which a look has found something last. */
  #foundAt = Number.NEGATIVE_INFINITY;
  #isHinted = false;
  #hasWarnedOfServices = false;
  #stopped = false;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** True when recovery looks for due sessions repeatedly. */
  get isAutomatic(): boolean {
    return this.#isAutomatic;
  }

  /** Looks for due sessions now, and repeatedly from then on. */
  start(): void {
    if (this.#isAutomatic) return;
    this.#isAutomatic = true;
    this.#arm(0);
    this.#armSweep();
    this.#forgetReleases = this.#parts.onReleased?.(() => this.hint()) ?? this.#forgetReleases;
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

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer();
    this.#cancelSweep();
    this.#forgetReleases();
    for (const cancel of this.#wakes.values()) cancel();
    this.#wakes.clear();
  }

  /**
   * Announces that a session may be due. `posted` names a session that received an entry and that
   * this process does not work on.
   */
  hint(posted?: SessionPlace): void {
    if (!this.#isAutomatic || this.#stopped) return;
    if (posted !== undefined) {
      this.#posted.set(keyOf(posted), posted);
      // An entry is a reason to try again what was of no use before.
      this.#failures.delete(keyOf(posted));
    }
    // The running look may have queried the store before the entry was posted.
    if (this.#looking.has(undefined)) this.#isHinted = true;
    else this.#arm(0);
  }

  /** Continues a lane of a session that this process holds, so that nobody can take it. */
  resumeHeld(place: SessionPlace): void {
    const { isActive } = this.#parts;
    const key = keyOf(place);
    if (!this.#isAutomatic || this.#stopped || isActive(place) || !this.#mayTry(key)) return;
    const run = this.#follow(place);
    this.#taken.add(key);
    void run.settled().then(() => this.#taken.delete(key));
  }

  #mayTry(key: string): boolean {
    return (
      !this.#taken.has(key) && (this.#failures.get(key)?.until ?? 0) <= this.#parts.clock.now()
    );
  }

  /** Schedules a look at a time when a released session becomes due. */
  wakeAt(at: number): void {
    if (!this.#isAutomatic || this.#stopped) return;
    // Many sessions share one timer: thousands may wait, and one look finds all that are due.
    const due = this.#wakes.size < exactWakes ? at : Math.ceil(at / coarseMs) * coarseMs;
    if (this.#wakes.has(due)) return;
    const { clock, host } = this.#parts;
    const ms = Math.max(0, due - clock.now());
    const wake = (): void => {
      this.#wakes.delete(due);
      this.hint();
    };
    // The timer must not keep a process alive that has nothing else to do.
    this.#wakes.set(
      due,
      isOf(host, clock) ? host.setBackgroundTimer(ms, wake) : clock.setTimer(ms, wake),
    );
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

  #arm(ms: number): void {
    this.#cancelTimer();
    if (this.#stopped) return;
    this.#cancelTimer = this.#parts.host.setBackgroundTimer(ms, () => {
      void this.look()
        .catch((error: unknown) => this.#lookFailed(error))
        .then(() => {
          const ms = this.#isHinted ? 0 : this.#pauseMs;
          this.#isHinted = false;
          this.#arm(ms);
        });
    });
  }

  /** Pause until the next look. */
  get #pauseMs(): number {
    const isBusy = this.#parts.clock.monotonic() - this.#foundAt < busyForMs;
    return isBusy ? busyLookMs : idleLookMs;
  }

  /** Reports a failed look; a store that refuses for good is not asked again. */
  #lookFailed(error: unknown): void {
    if (this.#stopped) return;
    if (isAdjutantError(error) && error.data['permanent'] === true) this.stop();
    this.#warn('The store could not be asked for runs to continue', error);
  }

  async #continueDue(tenant: string | undefined): Promise<readonly Run[]> {
    const posted = tenant === undefined ? await this.#postedHere() : [];
    await this.#parts.lookAtServices(tenant).catch((error: unknown) => {
      // Runs go on: a store may have no place for services, and says so at each look.
      if (!this.#hasWarnedOfServices) this.#warn('The services could not be looked at', error);
      this.#hasWarnedOfServices = true;
    });
    const { nextAt, taken } = await this.#parts.take({ ...(await this.#free()), tenant });
    if (nextAt !== null) this.wakeAt(nextAt);
    if (taken.length > 0) this.#foundAt = this.#parts.clock.monotonic();
    return [...posted, ...this.begin(taken)];
  }

  /** Continues sessions that this process has taken; gives those back that it cannot work on. */
  begin(taken: readonly Taken[]): readonly Run[] {
    const runs: Run[] = [];
    for (const each of taken) {
      const key = keyOf(each);
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

  /** Continues sessions to which an entry was posted here and that wait for no turn. */
  async #postedHere(): Promise<readonly Run[]> {
    const places = [...this.#posted.values()];
    this.#posted.clear();
    const runs: Run[] = [];
    for (const place of places) {
      if (await this.#parts.isQueued(place)) continue;
      // Another look may have begun to continue it meanwhile.
      const key = keyOf(place);
      if (!this.#stopped && this.#mayTry(key) && !this.#parts.isActive(place))
        runs.push(this.#continue(place));
    }
    return runs;
  }

  #continue(place: SessionPlace, taken?: Taken): Run {
    const key = keyOf(place);
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

  #follow(place: SessionPlace, taken?: Taken): Run {
    const key = keyOf(place);
    const run = this.#parts.resume(place, taken);
    this.#running.set(run, taken);
    run.then(
      () => this.#failures.delete(key),
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
    void run.settled().then(() => this.hint());
    return run;
  }

  /** Gives a session back. After a failure of its own nobody takes it for a while. */
  #giveBack(taken: Taken): void {
    const now = this.#parts.clock.now();
    const failed = this.#failures.get(keyOf(taken));
    const pausedUntil = failed?.isOfThisProcess === true ? now + lackingPauseMs : failed?.until;
    const at = Math.max(now, pausedUntil ?? now);
    void this.#parts.giveBack(taken, at).catch(() => undefined);
  }

  #failed(place: SessionPlace, error: unknown): void {
    const key = keyOf(place);
    // Another process was quicker.
    if (
      ['session_busy', 'ledger_conflict', 'run_stopped', 'session_not_found'].some((code) =>
        isAdjutantError(error, code),
      )
    )
      return;
    if (isAdjutantError(error, 'no_open_run')) {
      // No run can use the rest of its inbox. The session stays due, and must not be examined
      // without a pause.
      const until = this.#parts.clock.now() + firstPauseMs;
      this.#failures.set(key, { times: 1, until, isOfThisProcess: false });
      return;
    }
    const times = (this.#failures.get(key)?.times ?? 0) + 1;
    const pause = Math.min(firstPauseMs * 2 ** (times - 1), longestPauseMs);
    const isOfThisProcess = isAdjutantError(error) && lacking.has(error.code);
    this.#failures.set(key, { times, until: this.#parts.clock.now() + pause, isOfThisProcess });
    if (times === 1) this.#warn(`Session "${place.session}" could not be continued`, error);
  }

  /** Reports a failure as a warning of the process: no caller awaits the work of recovery. */
  #warn(what: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const warningCode = isAdjutantError(error) ? error.code : 'recovery_failed';
    this.#parts.host.warn(visibleLine(`${what}: ${message}`), warningCode);
  }
}

function keyOf({ tenant, session, lane }: SessionPlace): string {
  return JSON.stringify([tenant, session, ...(lane === undefined ? [] : [lane])]);
}

/** True when time passes at the rate of the machine's clock, even if the store sets its value. */
function isOf(host: Host, clock: Clock): boolean {
  return clock === host.clock || (clock instanceof StoreClock && clock.base === host.clock);
}
