// These types are not in the harness: its declarations need vitest, which users of scripted models
// do not have.
import type { Store } from '../../../ledger/port.ts';

/** A fresh and empty store for one test. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Advances the store's clock. Without it, the tests of leases that end are skipped. */
  readonly clock?: { advance(ms: number): void };
  /** Closes the store, if the test has not, and removes its files and tables. */
  cleanup(): Promise<void>;
}

export type MakeStore = () => Promise<StoreUnderTest>;
