import { memoryStore, type Store } from 'adjutant';
import { countingFollowers } from '../changed-store.ts';

/** A store that counts who follows its ledgers. */
export function countedStore(inner: Store = memoryStore()): Store & { readonly followers: number } {
  const following = { count: 0, most: 0 };
  const store = countingFollowers(inner, following);
  return {
    ...store,
    get followers() {
      return following.count;
    },
  };
}
