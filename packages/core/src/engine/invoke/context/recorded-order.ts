import type { Host } from '../../../base/host.ts';

interface Asked {
  readonly seq: number;
  readonly give: () => void;
}

/**
 * Gives a body its recorded outcomes in the order in which they were recorded. Outcomes that the
 * body asks for in one turn of the event loop come one after the other. Each comes after the code
 * that went on with the one before. So concurrent code goes the same way again, as far as it asks
 * for the same. An outcome that was not asked for delays no other one. A new outcome, which is
 * recorded only now, comes after them: it must not win a race that was decided before.
 */
export class RecordedOrder {
  readonly #host: Host;
  #asked: Asked[] = [];

  constructor(host: Host) {
    this.#host = host;
  }

  /** True while the body has not been given all recorded outcomes that it has asked for. */
  get isGiving(): boolean {
    return this.#asked.length > 0;
  }

  /** Resolves when the outcome recorded as `seq` may be given. */
  turnOf(seq: number): Promise<void> {
    return new Promise((give) => {
      if (this.#asked.length === 0) this.#host.afterTurn(() => this.#next());
      this.#asked.push({ seq, give });
    });
  }

  #next(): void {
    const first = this.#asked.reduce((least, asked) => (asked.seq < least.seq ? asked : least));
    this.#asked = this.#asked.filter((asked) => asked !== first);
    if (this.#asked.length > 0) this.#host.afterTurn(() => this.#next());
    first.give();
  }
}
