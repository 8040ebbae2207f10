import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testClock } from '../../src/base/clocks/test-clock.ts';
import { encrypted, localKeys } from '../../src/stores/encrypted/index.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { sqlite } from '../../src/stores/sqlite/index.ts';
import { type MakeStore, storeContract } from '../../src/testing/contracts/store/store-contract.ts';

const keys = localKeys({ keys: [{ id: 'k1', secret: 'a secret of a test, of 32 characters' }] });

const inMemory: MakeStore = async () => {
  const clock = testClock();
  const store = encrypted(memoryStore({ clock }), { keys });
  return { store, clock, cleanup: () => store.close() };
};

const inFile: MakeStore = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'adjutant-encrypted-'));
  const clock = testClock();
  const store = encrypted(sqlite(join(directory, 'store.db'), { synchronous: 'normal', clock }), {
    keys,
  });
  const cleanup = async (): Promise<void> => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  };
  return { store, clock, cleanup };
};

const withKeysApart: MakeStore = async () => {
  const clock = testClock();
  const store = encrypted(memoryStore({ clock }), {
    keys,
    keyStore: memoryStore({ clock }),
    cachedSessions: 1,
  });
  return { store, clock, cleanup: () => store.close() };
};

await storeContract('encrypted in memory', inMemory);
await storeContract('encrypted in memory, keys apart, nothing remembered', withKeysApart);
await storeContract('encrypted in SQLite', inFile);
