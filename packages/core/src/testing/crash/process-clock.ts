import type { Clock } from '../../base/clock.ts';
import { tickingClock } from '../ticking-clock.ts';

/** The clock of one process: when the process is gone, so are its timers. */
export class ProcessClock implements Clock {
  readonly #clock: Clock;
  readonly #timers = new Set<() => void>();
  #isGone = false;

  constructor(startMs: number) {
    this.#clock = tickingClock(startMs);
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  setTimer(ms: number, task: () => void): () => void {
    if (this.#isGone) return () => undefined;
    const cancel = this.#clock.setTimer(ms, () => {
      this.#timers.delete(cancel);
      task();
    });
    this.#timers.add(cancel);
    return () => {
      this.#timers.delete(cancel);
      cancel();
    };
  }

  end(): void {
    this.#isGone = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }
}
