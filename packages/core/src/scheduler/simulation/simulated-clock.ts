import type { Clock } from '../../base/clock.ts';

/** A clock that stands still until it is moved. */
export class SimulatedClock implements Clock {
  #now: number;

  constructor(startMs: number) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  /** Never fires: the simulation moves from one instant to the next itself. */
  setTimer(): () => void {
    return () => undefined;
  }

  moveTo(at: number): void {
    this.#now = Math.max(this.#now, at);
  }
}
