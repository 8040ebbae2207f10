import type { Clock } from '../base/clock.ts';

/**
 * The time of a clock that never falls: when it went back, it goes on from the last instant that
 * was given out.
 */
export class RisingClock {
  readonly #clock: Clock;
  #ahead = 0;
  #last = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    const now = this.#clock.now() + this.#ahead;
    if (now < this.#last) this.#ahead += this.#last - now;
    else this.#last = now;
    return this.#last;
  }
}
