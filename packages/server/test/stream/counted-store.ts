import { type LedgerStore, memoryStore, type Store } from 'adjutant';

/** A store that counts who follows its ledgers. */
export function countedStore(store: Store = memoryStore()): Store & { readonly followers: number } {
  let followers = 0;
  const counted = (ledgers: LedgerStore): LedgerStore =>
    new Proxy(ledgers, {
      get(target, name) {
        if (name === 'follow') {
          return async function* (...args: Parameters<LedgerStore['follow']>) {
            followers++;
            try {
              yield* target.follow(...args);
            } finally {
              followers--;
            }
          };
        }
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  return {
    description: store.description,
    admin: store.admin,
    for: (scope) => counted(store.for(scope)),
    close: () => store.close(),
    get followers() {
      return followers;
    },
  };
}
