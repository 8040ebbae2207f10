/** Sends items in the order in which they came, although each takes a while to prepare. */
export class SendingOrder {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Sends a prepared item once all items before it under this name were sent or failed to be
   * prepared. It does not wait for their answers.
   */
  async inTurn<Prepared, Answer>(
    name: string,
    prepared: Promise<Prepared>,
    send: (prepared: Prepared) => Promise<Answer>,
  ): Promise<Answer> {
    const before = this.#last.get(name);
    const turn = Promise.withResolvers<void>();
    this.#last.set(name, turn.promise);
    const end = (): void => {
      turn.resolve();
      if (this.#last.get(name) === turn.promise) this.#last.delete(name);
    };
    let answer: Promise<Answer>;
    try {
      answer = send(await prepared.finally(() => before));
    } finally {
      end();
    }
    return answer;
  }

  /** Resolves when every item that has come under this name so far was sent. */
  async sent(name: string): Promise<void> {
    await this.#last.get(name);
  }
}
