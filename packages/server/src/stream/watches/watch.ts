import type { Clock } from 'adjutant/ports';

/** Comparison of what is there with the look before. */
export interface Comparison<Known, Change> {
  readonly known: Known;
  /** Nothing at the first look. */
  readonly changes: readonly Change[];
}

/** A look at what is watched. */
export type Look<Known, Change> = (before: Known | undefined) => Promise<Comparison<Known, Change>>;

export interface WatchPorts {
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** Milliseconds from a hint to a look, in which further hints come along. */
  readonly settleMs: number;
}

/** Milliseconds between two looks without a hint, for changes by other processes. */
const lookEveryMs = 1_000;
/** A look that takes long is followed by a pause of so many times its duration. */
const restFactor = 9;

/**
 * Watches something of one tenant while somebody listens: it compares what is there with the look
 * before. Runs and commands of this process hint at a look. The store announces no changes by other
 * processes, so that a look without a hint follows every second. All listeners share the looks.
 */
export class Watch<Known, Change> {
  readonly #lookAt: Look<Known, Change>;
  readonly #ports: WatchPorts;
  readonly #listeners = new Set<(changes: readonly Change[]) => void>();
  #known: Known | undefined;
  #first: Promise<void> | undefined;
  #cancelTimer: () => void = () => undefined;
  #isLooking = false;
  #isHinted = false;
  #lastLookMs = 0;

  constructor(look: Look<Known, Change>, ports: WatchPorts) {
    this.#lookAt = look;
    this.#ports = ports;
  }

  /**
   * Calls `listener` with what changes, until `end` is called.
   * @returns what is there, as it is before the first change
   * @throws StoreUnavailableError
   */
  async listen(
    listener: (changes: readonly Change[]) => void,
  ): Promise<{ readonly known: Known; readonly end: () => void }> {
    this.#listeners.add(listener);
    try {
      this.#first ??= this.#compare().then(() => this.#rest());
      await this.#first;
    } catch (error) {
      this.#forget(listener);
      throw error;
    }
    // The listener may have been called meanwhile; this is as new as what it was told.
    return { known: this.#known as Known, end: () => this.#forget(listener) };
  }

  /** Announces that something may have changed. */
  hint(): void {
    // A hint that put off the look of the one before could do so for ever.
    if (this.#listeners.size === 0 || this.#isHinted) return;
    this.#isHinted = true;
    if (!this.#isLooking) this.#rest();
  }

  #forget(listener: (changes: readonly Change[]) => void): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    this.#cancelTimer();
    this.#known = undefined;
    this.#first = undefined;
    this.#isHinted = false;
  }

  /** Waits for the next look. */
  #rest(): void {
    this.#cancelTimer();
    if (this.#listeners.size === 0) return;
    const ms = this.#isHinted ? this.#ports.settleMs : lookEveryMs;
    const wait = Math.max(ms, this.#lastLookMs * restFactor);
    this.#cancelTimer = this.#ports.clock.setTimer(wait, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { clock, onError } = this.#ports;
    const begun = clock.monotonic();
    this.#isLooking = true;
    this.#isHinted = false;
    try {
      await this.#compare();
    } catch (error) {
      onError(error);
    } finally {
      this.#isLooking = false;
      this.#lastLookMs = clock.monotonic() - begun;
      this.#rest();
    }
  }

  async #compare(): Promise<void> {
    const { known, changes } = await this.#lookAt(this.#known);
    if (this.#listeners.size === 0) return;
    this.#known = known;
    if (changes.length === 0) return;
    for (const listener of this.#listeners) listener(changes);
  }
}
