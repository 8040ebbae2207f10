import type { Store } from 'adjutant';
import type { LedgerStore } from 'adjutant/store';

type Scope = Parameters<Store['for']>[0];

/**
 * A store some of whose methods are others. @param change gives the methods that take the place of
 * the ledgers' own
 */
export function changedStore(
  inner: Store,
  change: (ledgers: LedgerStore, scope: Scope) => Partial<LedgerStore>,
): Store {
  return {
    description: inner.description,
    admin: inner.admin,
    close: () => inner.close(),
    for(scope) {
      const ledgers = inner.for(scope);
      const changed = change(ledgers, scope);
      return new Proxy(ledgers, {
        get(target, name) {
          const other = changed[name as keyof LedgerStore];
          if (other !== undefined) return other;
          const own: unknown = Reflect.get(target, name);
          return typeof own === 'function' ? own.bind(target) : own;
        },
      });
    },
  };
}

/** Followers of ledgers. */
export interface Following {
  count: number;
  most: number;
}

/** A store that counts who follows its ledgers. @param isCounted @default those of all apps */
export function countingFollowers(
  inner: Store,
  following: Following,
  isCounted: (scope: Scope) => boolean = () => true,
): Store {
  return changedStore(inner, (ledgers, scope) => {
    if (!isCounted(scope)) return {};
    return {
      async *follow(...args) {
        following.count++;
        following.most = Math.max(following.most, following.count);
        try {
          yield* ledgers.follow(...args);
        } finally {
          following.count--;
        }
      },
    };
  });
}
