import { type MakeStore, storeContract, testClock } from 'adjutant/testing';
import type pg from 'pg';
import { describe, test } from 'vitest';
import { openPostgres } from '../../src/stores/postgres/open.ts';
import type { PostgresPool } from '../../src/stores/postgres/pool.ts';
import { newPool, newSchema, reasonToSkip } from './server.ts';
import { statelessPool } from './stateless-pool.ts';

/** @param wrap makes the pool that the store gets */
function inNewSchema(wrap: (pools: readonly [pg.Pool, pg.Pool]) => PostgresPool): MakeStore {
  return async () => {
    const schema = newSchema();
    const pools = [newPool(), newPool()] as const;
    const clock = testClock();
    const store = openPostgres({ description: schema.name, pool: wrap(pools), schema: schema.name, fixedNow: clock.now });
    const cleanup = async (): Promise<void> => {
      await store.close();
      await Promise.all(pools.map((pool) => pool.end()));
      await schema.drop();
    };
    return { store, clock, cleanup };
  };
}

if (reasonToSkip === undefined) {
  await storeContract(
    'postgres',
    inNewSchema(([pool]) => pool),
  );
  await storeContract('postgres, no two statements on one connection', inNewSchema(statelessPool));
} else {
  describe.skip(`store contract: postgres (${reasonToSkip})`, () => test('is skipped', () => undefined));
}
