/** Sends things on in the order in which they came, although it takes a while to prepare each. */
export class SendingOrder {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Sends what was prepared when all that came before it under this name has been sent, or failed
   * to be prepared. Answers are not waited for.
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

  /** Resolves when all that has come under this name so far has been sent. */
  async sent(name: string): Promise<void> {
    await this.#last.get(name);
  }
}
