import type { Clock } from '../base/clock.ts';

/**
 * A clock that never goes back. When the clock behind it does, it goes on from its last instant.
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
