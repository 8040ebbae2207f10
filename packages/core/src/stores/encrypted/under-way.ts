/** The writes of several steps that have begun and not ended. `close` must wait for them. */
export class UnderWay {
  readonly #all = new Set<Promise<unknown>>();

  async during<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const answer = work();
    this.#all.add(answer);
    try {
      return await answer;
    } finally {
      this.#all.delete(answer);
    }
  }

  /** Resolves when all writes that are under way now have succeeded or failed. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#all);
  }
}
