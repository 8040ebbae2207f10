/** The listeners of one kind of news. */
export class Listeners<News> {
  readonly #listeners = new Set<(news: News) => void>();

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** Adds a listener. Returns a function that removes it. */
  add(listener: (news: News) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(news: News): void {
    for (const listener of this.#listeners) listener(news);
  }

  /**
   * Tells each listener all of the news, one after the other. A listener that is removed meanwhile
   * is not told the rest.
   */
  tellAll(news: readonly News[]): void {
    for (const listener of this.#listeners)
      for (const one of news) if (this.#listeners.has(listener)) listener(one);
  }
}
