import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testClock } from '../../../src/base/clocks/test-clock.ts';
import { type SqliteOptions, sqlite } from '../../../src/stores/sqlite/index.ts';
import type { MakeStore } from '../../../src/testing/contracts/store/store-contract.ts';

/** Makes stores for the contract, each in a file of its own. */
export function inNewFiles(options: SqliteOptions): MakeStore {
  return async () => {
    const directory = await mkdtemp(join(tmpdir(), 'adjutant-store-'));
    const clock = testClock();
    const store = sqlite(join(directory, 'store.db'), { ...options, clock });
    const cleanup = async (): Promise<void> => {
      await store.close();
      await rm(directory, { recursive: true, force: true });
    };
    return { store, clock, cleanup };
  };
}
