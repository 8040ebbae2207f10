/** Tells whether something happened twice within a moment. */
export class Twice {
  readonly #withinMs: number;
  readonly #now: () => number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(withinMs: number, now: () => number) {
    this.#withinMs = withinMs;
    this.#now = now;
  }

  /** Notes that it happened. Returns true when that was the second time. */
  happens(): boolean {
    const now = this.#now();
    const isSecond = now - this.#at <= this.#withinMs;
    this.#at = isSecond ? Number.NEGATIVE_INFINITY : now;
    return isSecond;
  }

  /** Forgets that it happened, because something else has happened since. */
  forget(): void {
    this.#at = Number.NEGATIVE_INFINITY;
  }
}
