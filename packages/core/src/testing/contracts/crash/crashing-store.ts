import { InvalidOptionError } from '../../../base/invalid-option.ts';
import { describeValue, isCount, isOneOf } from '../../../base/options.ts';
import type { Event } from '../../../ledger/event.ts';
import type { Batch, LedgerStore, Store, StoreAdmin } from '../../../ledger/port.ts';

/** The store of a process that is going to stop. */
export interface CrashingStore {
  readonly store: Store;
  /**
   * Resolves when the process is stopped and the store has done everything that the process asked
   * before.
   */
  readonly crashed: Promise<void>;
  /** True when the process is stopped. */
  readonly isGone: boolean;
  /** Number of appends that were asked for, in all sessions. */
  readonly appends: number;
  /** The events of the append at which the process stopped by itself. */
  readonly boundary: readonly Event[] | undefined;
  /**
   * Stops the process.
   * @returns `crashed`
   */
  crash(): Promise<void>;
}

/**
 * Makes a store for a process that stops. Later questions of the process are never answered, and
 * neither are those that wait for an answer. The store behind it stays open for the next process;
 * `close` of this one does nothing.
 *
 * @param number the append, counted from 1 over all sessions, at which the process stops by itself;
 * without it, it stops at `crash()`
 * @param when tells if that append still reaches the store
 * @default 'before'
 * @throws InvalidOptionError when `number` is no whole number from 1, or `when` is neither
 */
export function crashingStore(
  store: Store,
  number?: number,
  when: 'before' | 'after' = 'before',
): CrashingStore {
  check('number', number, isCount);
  check('when', when, isOneOf('before', 'after'));
  const line = new Line(number, when);
  return {
    store: {
      description: store.description,
      admin: line.over<StoreAdmin>(store.admin),
      for: (scope) => line.over<LedgerStore>(store.for(scope)),
      close: async () => undefined,
    },
    crashed: line.crashed,
    get isGone() {
      return line.isCut;
    },
    get appends() {
      return line.appends;
    },
    get boundary() {
      return line.boundary;
    },
    crash: () => line.cut(),
  };
}

function check(name: string, value: unknown, fits: (value: unknown) => string | undefined): void {
  const expected = value === undefined ? undefined : fits(value);
  if (expected === undefined) return;
  throw new InvalidOptionError({
    function: 'crashingStore',
    reason: `\`${name}\` must be ${expected}, not ${describeValue(value)}`,
  });
}

/**
 * Returns a new promise for each question. Reactions to a promise that all share would be kept as
 * long as that promise.
 */
function never(): Promise<never> {
  return new Promise<never>(() => undefined);
}

/** The connection between a process and its store, until it is cut. */
class Line {
  readonly #stopsAt: number | undefined;
  readonly #when: 'before' | 'after';
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #crashed = Promise.withResolvers<void>();
  isCut = false;
  appends = 0;
  boundary: readonly Event[] | undefined;

  constructor(stopsAt: number | undefined, when: 'before' | 'after') {
    this.#stopsAt = stopsAt;
    this.#when = when;
  }

  get crashed(): Promise<void> {
    return this.#crashed.promise;
  }

  cut(): Promise<void> {
    if (!this.isCut) {
      this.isCut = true;
      void Promise.allSettled(this.#underWay).then(() => this.#crashed.resolve());
    }
    return this.crashed;
  }

  over<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        const ask = (args: readonly unknown[]): unknown => Reflect.apply(method, target, args);
        if (name === 'read' || name === 'readStored' || name === 'follow') {
          return (...args: unknown[]) => this.#pages(() => ask(args) as AsyncIterable<unknown>);
        }
        if (name === 'append')
          return (...args: unknown[]) =>
            this.#append(() => ask(args) as Promise<unknown>, args[2] as Batch);
        return (...args: unknown[]) => this.#answer(() => ask(args) as Promise<unknown>);
      },
    });
  }

  #append(ask: () => Promise<unknown>, { events }: Batch): Promise<unknown> {
    if (this.isCut) return never();
    if (++this.appends !== this.#stopsAt) return this.#answer(ask);
    this.boundary = events;
    if (this.#when === 'after') this.#note(ask());
    void this.cut();
    return never();
  }

  async #answer(ask: () => Promise<unknown>): Promise<unknown> {
    if (this.isCut) return never();
    const asked = this.#note(ask());
    try {
      const answer = await asked;
      return this.isCut ? never() : answer;
    } catch (error) {
      if (this.isCut) return never();
      throw error;
    }
  }

  #note(asked: Promise<unknown>): Promise<unknown> {
    this.#underWay.add(asked);
    const forget = (): void => void this.#underWay.delete(asked);
    asked.then(forget, forget);
    return asked;
  }

  async *#pages(ask: () => AsyncIterable<unknown>): AsyncGenerator<unknown> {
    if (this.isCut) await never();
    try {
      for await (const page of ask()) {
        if (this.isCut) await never();
        yield page;
        if (this.isCut) await never();
      }
    } finally {
      if (this.isCut) await never();
    }
  }
}

/**
 * Makes a store for the process after a stopped one. It acquires sessions at once, and does not
 * wait for the end of the other lease. `close` does nothing, so that several processes can have the
 * same store.
 */
export function takingOver(store: Store): Store {
  const force = (ledgers: LedgerStore): LedgerStore =>
    new Proxy(ledgers, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        if (name !== 'claim') return method.bind(target);
        return (...[session, owner, options]: Parameters<LedgerStore['claim']>) =>
          target.claim(session, owner, { ...options, force: true });
      },
    });
  return { ...keptOpen(store), for: (scope) => force(store.for(scope)) };
}

/** Returns the same store for several processes: the opener closes it. */
export function keptOpen(store: Store): Store {
  return {
    description: store.description,
    admin: store.admin,
    for: (scope) => store.for(scope),
    close: async () => undefined,
  };
}
