import { type Clock, setBackgroundTimer, systemClock } from '../../base/clock.ts';
import { isAdjutantError } from '../../base/error.ts';
import { visibleLine } from '../../base/visible-text.ts';
import type { DueSession } from '../../ledger/port.ts';
import { StoreClock } from '../../ledger/store-clock.ts';
import type { Run } from '../run/run.ts';

/** How often the store is asked for sessions that nobody works on. */
const lookEveryMs = 5_000;
/** How long a session that could not be continued is left alone, at first and at most. */
const firstPauseMs = 10_000;
const longestPauseMs = 600_000;
/** Sessions that are continued at the same time. */
const defaultAtOnce = 100;
/**
 * How many due sessions are looked through for those that can be continued here: at first, so that
 * no tenant is hidden behind another, and at most.
 */
const firstLookedThrough = 512;
const mostLookedThrough = 4_096;
/** Timers that fire at the very moment that was asked for, and what others are rounded up to. */
const exactWakes = 64;
const coarseMs = 1_000;
/** How often large values that nothing refers to are removed. */
const sweepEveryMs = 3_600_000;

interface Failure {
  readonly times: number;
  readonly until: number;
}

/** Where a session of the app lies. */
export type SessionPlace = Pick<DueSession, 'tenant' | 'session'>;

export interface RecoveryParts {
  /**
   * What nobody works on and has something to be done, the longest overdue first: of one tenant, or
   * of all that are looked after.
   */
  readonly due: (limit: number, tenant: string | undefined) => Promise<readonly SessionPlace[]>;
  readonly clock: Clock;
  /** Sessions that are continued at the same time. @default 100 */
  readonly atOnce?: number | undefined;
  /** Continues what a session has open. */
  readonly resume: (place: SessionPlace) => Run;
  /** Whether this process works on a session, or leaves it alone. */
  readonly isActive: (place: SessionPlace) => boolean;
  /**
   * Calls `onGivenBack` when another process has stopped working on something, as far as it says
   * so. Returns a function that ends it.
   */
  readonly heedGivenBack?: (onGivenBack: () => void) => () => void;
  /** Removes large values that nothing refers to any more. */
  readonly sweep: () => Promise<unknown>;
}

/**
 * Finds runs that stopped without an end, because their process died or because what they waited
 * for has come, and continues them. A session that cannot be continued here, as when its runnable
 * is not registered, is left as it is, and tried again later and later.
 */
export class Recovery {
  readonly #parts: RecoveryParts;
  readonly #failures = new Map<string, Failure>();
  readonly #running = new Set<Run>();
  /**
   * Sessions that were taken up: those that were due until their run rests, those that this process
   * held until nothing of it is under way.
   */
  readonly #taken = new Set<string>();
  /**
   * Sessions to which something was posted here: whoever has answered does not wait for other
   * sessions.
   */
  readonly #posted = new Set<string>();
  #cancelTimer: () => void = () => undefined;
  #cancelSweep: () => void = () => undefined;
  #heedNoMore: () => void = () => undefined;
  readonly #wakes = new Map<number, () => void>();
  readonly #looking = new Map<string | undefined, Promise<readonly Run[]>>();
  #isAutomatic = false;
  #isHinted = false;
  #stopped = false;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** Whether it looks again and again. */
  get isAutomatic(): boolean {
    return this.#isAutomatic;
  }

  /** Looks now, and again and again. */
  start(): void {
    if (this.#isAutomatic) return;
    this.#isAutomatic = true;
    this.#arm(0);
    this.#armSweep();
    this.#heedNoMore = this.#parts.heedGivenBack?.(() => this.hint()) ?? this.#heedNoMore;
  }

  #armSweep(): void {
    this.#cancelSweep = setBackgroundTimer(sweepEveryMs, () => {
      void this.#parts
        .sweep()
        .catch((error: unknown) =>
          warn('Large values that nothing refers to could not be removed', error),
        )
        .then(() => (this.#stopped ? undefined : this.#armSweep()));
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer();
    this.#cancelSweep();
    this.#heedNoMore();
    for (const cancel of this.#wakes.values()) cancel();
    this.#wakes.clear();
  }

  /**
   * Something may be due, as when something was posted to a session that this process does not work
   * on.
   */
  hint(posted?: SessionPlace): void {
    if (!this.#isAutomatic || this.#stopped) return;
    if (posted !== undefined) this.#posted.add(keyOf(posted));
    // The look that is under way may have asked the store before.
    if (this.#looking.has(undefined)) this.#isHinted = true;
    else this.#arm(0);
  }

  /** Continues a session that this process holds, which `due` does not list. */
  takeUp(place: SessionPlace): void {
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
    this.#wakes.set(
      due,
      isSystemClock(clock) ? setBackgroundTimer(ms, wake) : clock.setTimer(ms, wake),
    );
  }

  /**
   * Continues what is due, and gives the runs. @param tenant @default all that are looked after.
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

  async #continueDue(tenant: string | undefined): Promise<readonly Run[]> {
    const posted = new Set(tenant === undefined ? this.#posted : []);
    for (const key of posted) this.#posted.delete(key);
    const chosen = await this.#chooseDue(tenant, posted);
    // Another look may have taken it up meanwhile.
    return this.#stopped
      ? []
      : chosen
          .filter((place) => !this.#taken.has(keyOf(place)))
          .map((place) => this.#continue(place));
  }

  #continue(place: SessionPlace): Run {
    const key = keyOf(place);
    const run = this.#follow(place);
    const isAtRest = (): boolean => this.#taken.delete(key);
    this.#taken.add(key);
    run.then(isAtRest, isAtRest);
    return run;
  }

  /**
   * As many as there is room for, and those to which something was posted here, be there room or
   * not.
   */
  async #chooseDue(
    tenant: string | undefined,
    posted: ReadonlySet<string>,
  ): Promise<readonly SessionPlace[]> {
    const { due, isActive, atOnce = defaultAtOnce } = this.#parts;
    const free = Math.max(0, atOnce - this.#running.size);
    const first = Math.max(firstLookedThrough, free + posted.size + this.#failures.size);
    for (let limit = first; !this.#stopped && free + posted.size > 0; limit *= 2) {
      const found = await due(limit, tenant);
      const able = found.filter((place) => this.#mayTry(keyOf(place)) && !isActive(place));
      const answered = able.filter((place) => posted.has(keyOf(place)));
      const others = able.filter((place) => !posted.has(keyOf(place)));
      const hasEnough = others.length >= free && answered.length === posted.size;
      if (hasEnough || found.length < limit || limit >= mostLookedThrough)
        return [...answered, ...inTurns(others).slice(0, free)];
    }
    return [];
  }

  #follow(place: SessionPlace): Run {
    const key = keyOf(place);
    const run = this.#parts.resume(place);
    this.#running.add(run);
    run.then(
      () => this.#failures.delete(key),
      (error: unknown) => this.#failed(place, error),
    );
    // What waited for room is due still.
    void run.settled().then(() => {
      this.#running.delete(run);
      this.hint();
    });
    return run;
  }

  #failed(place: SessionPlace, error: unknown): void {
    const key = keyOf(place);
    // Somebody else was quicker.
    if (
      ['session_busy', 'ledger_conflict', 'run_stopped', 'session_not_found'].some((code) =>
        isAdjutantError(error, code),
      )
    )
      return;
    if (isAdjutantError(error, 'no_open_run')) {
      // What is left in its inbox nobody can use: it stays due, and must not be looked at without a
      // pause.
      this.#failures.set(key, { times: 1, until: this.#parts.clock.now() + firstPauseMs });
      return;
    }
    const times = (this.#failures.get(key)?.times ?? 0) + 1;
    const pause = Math.min(firstPauseMs * 2 ** (times - 1), longestPauseMs);
    this.#failures.set(key, { times, until: this.#parts.clock.now() + pause });
    if (times === 1) warn(`Session "${place.session}" could not be continued`, error);
  }
}

function keyOf({ tenant, session }: SessionPlace): string {
  return JSON.stringify([tenant, session]);
}

/** One of each tenant, then the next of each: who has many does not keep the others waiting. */
function inTurns(places: readonly SessionPlace[]): readonly SessionPlace[] {
  const seen = new Map<string, number>();
  const placed = places.map((place) => {
    const turn = seen.get(place.tenant) ?? 0;
    seen.set(place.tenant, turn + 1);
    return { place, turn };
  });
  return placed.sort((left, right) => left.turn - right.turn).map(({ place }) => place);
}

/** Nobody awaits what recovery does: what goes wrong is told as a warning of the process. */
function warn(what: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.emitWarning(visibleLine(`${what}: ${message}`), {
    type: 'AdjutantWarning',
    code: isAdjutantError(error) ? error.code : 'recovery_failed',
  });
}

/** Whether time passes as it does in the system, whatever the store calls it. */
function isSystemClock(clock: Clock): boolean {
  return clock === systemClock || (clock instanceof StoreClock && clock.base === systemClock);
}
