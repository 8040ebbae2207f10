const longestMemory = 64;
const mostLedgers = 4_096;

/**
 * Remembers where in a ledger a path was last stored as text, so that later events refer to that
 * `seq` instead of repeating it. Forgetting only costs a few bytes: the path is stored as text
 * again.
 */
export class PathReferences {
  readonly #ledgers = new Map<number, Map<string, number>>();

  /**
   * Returns the stored form of a path at `seq`: the path itself, or the `seq` of an event of the
   * same ledger that has it.
   */
  refer(ledger: number, seq: number, path: string): string | number {
    let known = this.#ledgers.get(ledger);
    if (known === undefined) {
      if (this.#ledgers.size >= mostLedgers) this.#ledgers.clear();
      known = new Map();
      this.#ledgers.set(ledger, known);
    }
    const found = known.get(path);
    if (found !== undefined) return found;
    if (known.size >= longestMemory) known.clear();
    known.set(path, seq);
    return path;
  }

  /** Forgets all paths, after a rollback has removed their rows. */
  clear(): void {
    this.#ledgers.clear();
  }
}
