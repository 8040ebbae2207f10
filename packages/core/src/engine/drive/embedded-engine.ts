import { isAdjutantError } from '../../base/error.ts';
import type { Host } from '../../base/host.ts';
import { visibleLine } from '../../base/text/visible-text.ts';
import { StoreClock } from '../../ledger/store-clock.ts';
import type { Engine, EngineHealth, EnginePlace, EngineWork, WakeOptions } from './engine.ts';

/**
 * Interval in milliseconds at which the store is asked for due sessions, while nothing is found.
 */
const idleLookMs = 5_000;
/** The same for a time after something was found: more may come from other processes. */
const busyLookMs = 1_000;
const busyForMs = 30_000;
/**
 * Number of timers that fire at the exact time, and the unit in milliseconds to which others round
 * up.
 */
const exactWakes = 64;
const coarseMs = 1_000;

/** Engine within the process: timers, and looks at the queue of the store. */
export class EmbeddedEngine implements Engine {
  readonly name = 'embedded';
  #work: EngineWork | undefined;
  /**
   * Sessions to which an entry was posted here: a person's answer does not wait for other sessions.
   */
  readonly #posted = new Map<string, EnginePlace>();
  readonly #wakes = new Map<number, () => void>();
  #cancelTimer: () => void = () => undefined;
  /** Monotonic time at which a look has found something last. */
  #foundAt = Number.NEGATIVE_INFINITY;
  #isHinted = false;
  /** Failure of the last look. */
  #failure: string | undefined;
  #stopped = false;

  async start(work: EngineWork): Promise<void> {
    if (this.#work !== undefined || this.#stopped) return;
    this.#work = work;
    this.#arm(work, 0);
  }

  wake(place?: EnginePlace, { isQueued = false }: WakeOptions = {}): void {
    const work = this.#active;
    if (work === undefined) return;
    if (place !== undefined && !isQueued) this.#posted.set(placeKey(place), place);
    // The running look may have queried the store before the entry was posted.
    if (work.isLooking) this.#isHinted = true;
    else this.#arm(work, 0);
  }

  cancel(place: EnginePlace): void {
    // Sessions with an entry come before all that is due.
    this.wake(place);
  }

  schedule(at: number): void {
    const work = this.#active;
    if (work === undefined) return;
    // Many sessions share one timer: thousands may wait, and one look finds all that are due.
    const due = this.#wakes.size < exactWakes ? at : Math.ceil(at / coarseMs) * coarseMs;
    if (this.#wakes.has(due)) return;
    const ms = Math.max(0, due - work.clock.now());
    const wake = (): void => {
      this.#wakes.delete(due);
      this.wake();
    };
    // The timer must not keep a process alive that has nothing else to do.
    this.#wakes.set(
      due,
      isOfHost(work) ? work.host.setBackgroundTimer(ms, wake) : work.clock.setTimer(ms, wake),
    );
  }

  async health(): Promise<EngineHealth> {
    const engine = this.name;
    if (this.#active === undefined) {
      const reason = this.#stopped ? 'it was stopped' : 'it was not started';
      return { engine, status: 'stopped', message: this.#failure ?? reason };
    }
    if (this.#failure !== undefined) return { engine, status: 'degraded', message: this.#failure };
    return { engine, status: 'ok' };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer();
    for (const cancel of this.#wakes.values()) cancel();
    this.#wakes.clear();
  }

  get #active(): EngineWork | undefined {
    return this.#stopped ? undefined : this.#work;
  }

  #arm(work: EngineWork, ms: number): void {
    this.#cancelTimer();
    if (this.#stopped) return;
    this.#cancelTimer = work.host.setBackgroundTimer(ms, () => {
      void this.#look(work)
        .catch((error: unknown) => this.#lookFailed(work.host, error))
        .then(() => {
          const pause = this.#isHinted ? 0 : this.#pauseMs(work);
          this.#isHinted = false;
          this.#arm(work, pause);
        });
    });
  }

  async #look(work: EngineWork): Promise<void> {
    const places = [...this.#posted.values()];
    this.#posted.clear();
    const found = await work.look(places);
    this.#failure = undefined;
    if (found > 0) this.#foundAt = work.clock.monotonic();
  }

  /** Pause until the next look. */
  #pauseMs({ clock }: EngineWork): number {
    const isBusy = clock.monotonic() - this.#foundAt < busyForMs;
    return isBusy ? busyLookMs : idleLookMs;
  }

  /** Reports a failed look; a store that refuses for good is not asked again. */
  #lookFailed(host: Host, error: unknown): void {
    if (this.#stopped) return;
    const message = error instanceof Error ? error.message : String(error);
    this.#failure = visibleLine(`The store could not be asked for runs to continue: ${message}`);
    if (isAdjutantError(error) && error.data['permanent'] === true) void this.stop();
    host.warn(this.#failure, isAdjutantError(error) ? error.code : 'recovery_failed');
  }
}

/**
 * Makes the engine that an app has by default, for one that is given another engine later, and for
 * tests of engines.
 */
export const embeddedEngine = (): Engine => new EmbeddedEngine();

/** Key of a place in maps. */
export function placeKey({ tenant, session, lane }: EnginePlace): string {
  return JSON.stringify([tenant, session, ...(lane === undefined ? [] : [lane])]);
}

/** True when time passes at the rate of the machine's clock, even if the store sets its value. */
function isOfHost({ host, clock }: EngineWork): boolean {
  return clock === host.clock || (clock instanceof StoreClock && clock.base === host.clock);
}
