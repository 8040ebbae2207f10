import type { LedgerStore, Store } from 'adjutant';

const never = new Promise<never>(() => undefined);

export interface CrashingStore {
  readonly store: Store;
  /** Resolves when the append has come at which the process stops. */
  readonly crashed: Promise<void>;
}

/** A store whose process is gone from its `number`th append on: right before it lands, or right after. What it asks then is never answered. */
export function crashingStore(store: Store, number: number, when: 'before' | 'after'): CrashingStore {
  const { promise: crashed, resolve: crash } = Promise.withResolvers<void>();
  let appends = 0;
  let isGone = false;
  const gone = (): Promise<never> => {
    isGone = true;
    crash();
    return never;
  };
  const answerOf = async (answer: unknown): Promise<unknown> => {
    const given = await answer;
    return isGone ? never : given;
  };
  const wrap = (ledgers: LedgerStore): LedgerStore =>
    new Proxy(ledgers, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        return (...args: unknown[]): unknown => {
          if (isGone) return never;
          if (name === 'append' && ++appends === number) {
            return when === 'before' ? gone() : Promise.resolve(method.apply(target, args)).then(gone, gone);
          }
          const answer = method.apply(target, args);
          return answer instanceof Promise ? answerOf(answer) : answer;
        };
      },
    });
  return {
    store: { description: store.description, admin: store.admin, for: (scope) => wrap(store.for(scope)), close: async () => undefined },
    crashed,
  };
}

/** A store for the process after: the lease of the one that is gone is not waited for. */
export function takingOver(store: Store): Store {
  const wrap = (ledgers: LedgerStore): LedgerStore =>
    new Proxy(ledgers, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        if (name !== 'claim') return method.bind(target);
        return (session: string, owner: string, options: { readonly ttl: number }) => target.claim(session, owner, { ...options, force: true });
      },
    });
  return { description: store.description, admin: store.admin, for: (scope) => wrap(store.for(scope)), close: async () => undefined };
}
