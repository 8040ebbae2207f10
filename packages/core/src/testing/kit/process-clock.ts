import type { Clock } from '../../base/clock.ts';

/**
 * The clock of one process. Its timers end with the process, and it knows the time until the next
 * timer. When a timer fires, the time that it waited has gone by, also by a clock that stands
 * still.
 */
export class ProcessClock implements Clock {
  readonly #clock: Clock;
  readonly #timers = new Map<() => void, number>();
  #isGone = false;
  /** Milliseconds that were skipped. */
  #skipped = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now() + this.#skipped;
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  setTimer(ms: number, task: () => void): () => void {
    if (this.#isGone) return () => undefined;
    const due = this.now() + ms;
    const cancel = this.#clock.setTimer(ms, () => {
      this.#timers.delete(cancel);
      this.skipTo(due);
      task();
    });
    this.#timers.set(cancel, this.#clock.monotonic() + Math.max(0, ms));
    return () => {
      this.#timers.delete(cancel);
      cancel();
    };
  }

  /** Moves the time on to an instant in epoch milliseconds. Timers are as far away as before. */
  skipTo(at: number): void {
    this.#skipped += Math.max(0, at - this.now());
  }

  /** Milliseconds until the next timer is due; infinite when there is none. */
  get untilNext(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const due of this.#timers.values()) next = Math.min(next, due);
    return next - this.#clock.monotonic();
  }

  end(): void {
    this.#isGone = true;
    for (const cancel of this.#timers.keys()) cancel();
    this.#timers.clear();
  }
}
