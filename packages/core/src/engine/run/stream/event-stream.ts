/**
 * A queue from a producer to a reader that uses `for await`. It is unbounded: a run does not wait
 * for its readers.
 */
export class EventStream<Item> implements AsyncIterableIterator<Item> {
  #items: Item[] = [];
  #next = 0;
  #waiting:
    | { resolve: (result: IteratorResult<Item>) => void; reject: (error: unknown) => void }
    | undefined;
  #end: { readonly error?: unknown } | undefined;
  readonly #onReturn: () => void;

  constructor(onReturn: () => void) {
    this.#onReturn = onReturn;
  }

  push(item: Item): void {
    if (this.#end !== undefined) return;
    const waiting = this.#waiting;
    if (waiting === undefined) {
      this.#items.push(item);
      return;
    }
    this.#waiting = undefined;
    waiting.resolve({ done: false, value: item });
  }

  /** Ends the stream after the pushed items; an error is thrown to the reader there. */
  close(end: { readonly error?: unknown } = {}): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) return;
    if ('error' in end) waiting.reject(end.error);
    else waiting.resolve({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<Item>> {
    if (this.#next < this.#items.length) {
      const value = this.#items[this.#next++] as Item;
      if (this.#next === this.#items.length) {
        this.#items = [];
        this.#next = 0;
      }
      return Promise.resolve({ done: false, value });
    }
    const end = this.#end;
    if (end !== undefined) {
      if (!('error' in end)) return Promise.resolve({ done: true, value: undefined });
      this.#end = {};
      return Promise.reject(end.error);
    }
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  /** Called when the reader leaves. Nothing more is kept for it, and the run goes on. */
  return(): Promise<IteratorResult<Item>> {
    this.#end ??= {};
    this.#items = [];
    this.#next = 0;
    this.#onReturn();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
