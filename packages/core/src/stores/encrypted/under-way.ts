/** What has been begun and not ended: writes of several steps, which `close` must wait for. */
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

  /** Resolves when all that is under way now has ended, however it did. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#all);
  }
}
