import type { LedgerStore, Store, StoreAdmin } from '../../../ledger/port.ts';

/**
 * A store that counts the questions that wait for its answer. `close` does nothing: the opener of
 * the store closes it.
 */
export class CountedStore {
  readonly store: Store;
  #pending = 0;
  #asked = 0;

  constructor(store: Store) {
    this.store = {
      description: store.description,
      admin: this.#over<StoreAdmin>(store.admin),
      for: (scope) => this.#over<LedgerStore>(store.for(scope)),
      close: async () => undefined,
    };
  }

  /** Number of questions without an answer. Following a ledger does not count: it has no end. */
  get pending(): number {
    return this.#pending;
  }

  /** Number of questions so far, without those that a waiting process repeats from time to time. */
  get asked(): number {
    return this.#asked;
  }

  #over<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        if (name === 'follow') return method.bind(target);
        return (...args: unknown[]): unknown => {
          const answer = Reflect.apply(method, target, args) as unknown;
          if (answer instanceof Promise) return this.#count(answer, name !== 'head');
          return isPages(answer) ? this.#pages(answer) : answer;
        };
      },
    });
  }

  #count<Value>(answer: Promise<Value>, isNews = true): Promise<Value> {
    if (isNews) this.#asked++;
    this.#pending++;
    const done = (): void => void this.#pending--;
    answer.then(done, done);
    return answer;
  }

  async *#pages(pages: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    const iterator = pages[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await this.#count(Promise.resolve(iterator.next()));
        if (done === true) return;
        yield value;
      }
    } finally {
      await iterator.return?.();
    }
  }
}

function isPages(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
