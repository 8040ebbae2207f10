import { afterThisTurn } from '../../base/clock.ts';

interface Asked {
  readonly seq: number;
  readonly give: () => void;
}

/**
 * Gives a body the outcomes that are recorded in the order in which they were recorded: those that
 * it asks for in one turn of the event loop come one after the other, each after the code that the
 * one before let go on. So code that does several things at once goes the way that it went, as far
 * as it asks for the same. Nobody waits for an outcome that was not asked for.
 */
export class RecordedOrder {
  #asked: Asked[] = [];

  /** Resolves when it is the turn of the outcome that was recorded as `seq`. */
  turnOf(seq: number): Promise<void> {
    return new Promise((give) => {
      if (this.#asked.length === 0) afterThisTurn(() => this.#next());
      this.#asked.push({ seq, give });
    });
  }

  #next(): void {
    const first = this.#asked.reduce((least, asked) => (asked.seq < least.seq ? asked : least));
    this.#asked = this.#asked.filter((asked) => asked !== first);
    if (this.#asked.length > 0) afterThisTurn(() => this.#next());
    first.give();
  }
}
