import { type Clock, setBackgroundTimer, systemClock } from '../base/clock.ts';
import { isAdjutantError } from '../base/error.ts';
import type { LedgerStore } from '../ledger/port.ts';
import type { Run } from './run.ts';

/** How often the store is asked for sessions that nobody works on. */
const lookEveryMs = 5_000;
/** How long a session that could not be continued is left alone, at first and at most. */
const firstPauseMs = 10_000;
const longestPauseMs = 600_000;
/** Sessions that are continued at the same time. */
const atOnce = 16;
/** Timers that fire at the very moment that was asked for, and what others are rounded up to. */
const exactWakes = 64;
const coarseMs = 1_000;
/** How often large values that nothing refers to are removed. */
const sweepEveryMs = 3_600_000;

interface Failure {
  readonly times: number;
  readonly until: number;
}

export interface RecoveryParts {
  readonly ledgers: () => LedgerStore;
  readonly clock: Clock;
  /** Continues what a session has open. */
  readonly resume: (session: string) => Run;
  readonly isActive: (session: string) => boolean;
  /** Removes large values that nothing refers to any more. */
  readonly sweep: () => Promise<unknown>;
}

/**
 * Finds runs that stopped without an end, because their process died or because what they waited for has come, and continues them. A session
 * that cannot be continued here, as when its runnable is not registered, is left as it is, and tried again later and later.
 */
export class Recovery {
  readonly #parts: RecoveryParts;
  readonly #failures = new Map<string, Failure>();
  readonly #running = new Set<Run>();
  /** Sessions that were taken up while this process held them. */
  readonly #taken = new Set<string>();
  #cancelTimer: () => void = () => undefined;
  #cancelSweep: () => void = () => undefined;
  readonly #wakes = new Map<number, () => void>();
  #looking: Promise<readonly Run[]> | undefined;
  #isAutomatic = false;
  #isHinted = false;
  #stopped = false;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** Looks now, and again and again. */
  start(): void {
    this.#isAutomatic = true;
    this.#arm(0);
    this.#armSweep();
  }

  #armSweep(): void {
    this.#cancelSweep = setBackgroundTimer(sweepEveryMs, () => {
      void this.#parts
        .sweep()
        .catch((error: unknown) => warn('Large values that nothing refers to could not be removed', error))
        .then(() => (this.#stopped ? undefined : this.#armSweep()));
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer();
    this.#cancelSweep();
    for (const cancel of this.#wakes.values()) cancel();
    this.#wakes.clear();
  }

  /** Something was posted to a session that this process does not work on. */
  hint(): void {
    if (!this.#isAutomatic || this.#stopped) return;
    // The look that is under way may have asked the store before.
    if (this.#looking !== undefined) this.#isHinted = true;
    else this.#arm(0);
  }

  /** Continues a session that this process holds, which `due` does not list. */
  takeUp(session: string): void {
    const { isActive, resume, clock } = this.#parts;
    if (!this.#isAutomatic || this.#stopped || isActive(session) || this.#taken.has(session)) return;
    if ((this.#failures.get(session)?.until ?? 0) > clock.now()) return;
    this.#taken.add(session);
    const run = this.#follow(session, resume(session));
    void run.settled().then(() => this.#taken.delete(session));
  }

  /** A session that was given back wants to be looked at again then. */
  wakeAt(at: number): void {
    if (!this.#isAutomatic || this.#stopped) return;
    // One timer for many sessions: thousands may wait, and a look finds all that are due.
    const due = this.#wakes.size < exactWakes ? at : Math.ceil(at / coarseMs) * coarseMs;
    if (this.#wakes.has(due)) return;
    const { clock } = this.#parts;
    const ms = Math.max(0, due - clock.now());
    const wake = (): void => {
      this.#wakes.delete(due);
      this.hint();
    };
    // A process that has nothing else to do must be able to end.
    this.#wakes.set(due, clock === systemClock ? setBackgroundTimer(ms, wake) : clock.setTimer(ms, wake));
  }

  /** Continues what is due, and gives the runs. @throws StoreUnavailableError */
  look(): Promise<readonly Run[]> {
    this.#looking ??= this.#continueDue().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  #arm(ms: number): void {
    this.#cancelTimer();
    if (this.#stopped) return;
    this.#cancelTimer = setBackgroundTimer(ms, () => {
      void this.look()
        .catch((error: unknown) => this.#lookFailed(error))
        .then(() => {
          const ms = this.#isHinted ? 0 : lookEveryMs;
          this.#isHinted = false;
          this.#arm(ms);
        });
    });
  }

  /** A store that has been closed, or refuses for good, is not asked again. */
  #lookFailed(error: unknown): void {
    if (this.#stopped) return;
    if (isAdjutantError(error) && error.data['permanent'] === true) this.stop();
    warn('The store could not be asked for runs to continue', error);
  }

  async #continueDue(): Promise<readonly Run[]> {
    const { ledgers, clock, isActive, resume } = this.#parts;
    const free = atOnce - this.#running.size;
    if (this.#stopped || free <= 0) return [];
    const due = await ledgers().due({ limit: free + this.#failures.size });
    const now = clock.now();
    const chosen = due.filter(({ session }) => !isActive(session) && (this.#failures.get(session)?.until ?? 0) <= now).slice(0, free);
    return this.#stopped ? [] : chosen.map(({ session }) => this.#follow(session, resume(session)));
  }

  #follow(session: string, run: Run): Run {
    this.#running.add(run);
    const ended = run.settled().then(() => this.#running.delete(run));
    run.then(
      () => this.#failures.delete(session),
      (error: unknown) => this.#failed(session, error),
    );
    // What waited for room is due still.
    void ended.then(() => this.hint());
    return run;
  }

  #failed(session: string, error: unknown): void {
    // Somebody else was quicker.
    if (['session_busy', 'ledger_conflict', 'run_stopped', 'session_not_found'].some((code) => isAdjutantError(error, code))) return;
    if (isAdjutantError(error, 'no_open_run')) {
      // What is left in its inbox nobody can use: it stays due, and must not be looked at without a pause.
      this.#failures.set(session, { times: 1, until: this.#parts.clock.now() + firstPauseMs });
      return;
    }
    const times = (this.#failures.get(session)?.times ?? 0) + 1;
    const pause = Math.min(firstPauseMs * 2 ** (times - 1), longestPauseMs);
    this.#failures.set(session, { times, until: this.#parts.clock.now() + pause });
    if (times === 1) warn(`Session "${session}" could not be continued`, error);
  }
}

/** Nobody awaits what recovery does: what goes wrong is told as a warning of the process. */
function warn(what: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.emitWarning(`${what}: ${message}`, { type: 'AdjutantWarning', code: isAdjutantError(error) ? error.code : 'recovery_failed' });
}
