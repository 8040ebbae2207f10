import type { LedgerStore, Store } from '../../../ledger/port.ts';
import { skipTest, type TestRunner } from '../../kit/test-runner.ts';
import { contractExpect, type Expect } from './contract-expect.ts';
import { type LeftOut, PartWatch } from './left-out.ts';
import type { MakeStore } from './store-under-test.ts';

export interface ContractTest {
  readonly store: Store;
  /** The ledgers of tenant `acme` and app `shop`. */
  readonly ledgers: LedgerStore;
  /** Advances the store's clock, or skips the test when the test has no control over that clock. */
  advance(ms: number): void;
}

export type DefineTest = (name: string, body: (test: ContractTest) => Promise<void>) => void;

/** The functions with which the parts of the contract are written. */
export interface Suite {
  readonly describe: (name: string, define: () => void) => void;
  readonly expect: Expect;
  /**
   * Defines a test that gets a store of its own. It is skipped when it uses a part that the store
   * leaves out.
   */
  readonly test: DefineTest;
  /** Defines a test of a part that is left out. */
  readonly unwatched: DefineTest;
}

export function createSuite(
  { describe, test }: TestRunner,
  make: MakeStore,
  leftOut: LeftOut,
): Suite {
  const define =
    (parts: LeftOut): DefineTest =>
    (name, body) => {
      // Jest takes a declared parameter for a callback.
      test(name, (...[context]) =>
        runTest(body, { make, parts, skip: (reason) => skipTest(context, reason) }),
      );
    };
  return {
    describe: (name, inner) => void describe(name, inner),
    expect: contractExpect,
    test: define(leftOut),
    unwatched: define({}),
  };
}

interface Conditions {
  readonly make: MakeStore;
  /** Parts of which the use skips a test. */
  readonly parts: LeftOut;
  readonly skip: (reason: string) => void;
}

/** Error that ends a test which needs a part that the store does not have. */
class SkippedError extends Error {}

async function runTest(
  body: (test: ContractTest) => Promise<void>,
  { make, parts, skip }: Conditions,
): Promise<void> {
  const { store: given, clock, cleanup } = await make();
  const watch = new PartWatch(parts);
  const store = watch.over(given);
  const advance = (ms: number): void => {
    if (clock === undefined) throw new SkippedError('the store has no clock that can be moved');
    clock.advance(ms);
  };
  let ended: unknown;
  try {
    await body({ store, ledgers: store.for({ tenant: 'acme', app: 'shop' }), advance });
  } catch (error) {
    ended = error;
  } finally {
    await cleanup();
  }
  if (watch.touched !== undefined) skip(`${watch.touched}: ${parts[watch.touched]}`);
  else if (ended instanceof SkippedError) skip(ended.message);
  else if (ended !== undefined) throw ended;
}
