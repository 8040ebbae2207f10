import { type Clock, systemClock } from 'adjutant/ports';

/** Milliseconds between two pieces when all of them may be written. */
const pieceMs = 5;

/**
 * A clock for a model that streams: each wait between two pieces is over when the test allows
 * another piece.
 */
export class PieceClock implements Clock {
  readonly now = systemClock.now;
  readonly monotonic = systemClock.monotonic;
  readonly #waiting = new Set<() => void>();
  #allowed = 0;

  setTimer(_ms: number, task: () => void): () => void {
    let cancel = (): void => void this.#waiting.delete(begin);
    const begin = (): void => {
      cancel = systemClock.setTimer(pieceMs, task);
    };
    this.#waiting.add(begin);
    this.#give();
    return () => cancel();
  }

  allow(pieces: number): void {
    this.#allowed += pieces;
    this.#give();
  }

  #give(): void {
    for (const begin of this.#waiting) {
      if (this.#allowed <= 0) return;
      this.#allowed--;
      this.#waiting.delete(begin);
      begin();
    }
  }
}
