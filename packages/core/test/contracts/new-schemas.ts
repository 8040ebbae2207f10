import type { Store } from 'adjutant';
import { type MakeStore, testClock } from 'adjutant/testing';
import type pg from 'pg';
import { afterAll } from 'vitest';
import type { PostgresPool } from '../../src/stores/postgres/pool.ts';
import { openPostgres } from '../../src/stores/postgres/store.ts';
import { newPool, newSchema } from '../stores/postgres/server.ts';

/**
 * Makes stores for the contract, each in a schema of its own. To be called at the top of a test
 * file.
 * @param poolOf makes the pool that a store gets
 * @param prepare is done with a store before it is tested
 */
export function inNewSchemas(
  poolOf: (pools: readonly [pg.Pool, pg.Pool]) => PostgresPool,
  prepare: (store: Store) => Promise<unknown> = async () => undefined,
): MakeStore {
  const drops: Promise<void>[] = [];
  afterAll(() => Promise.all(drops));
  return async () => {
    const schema = newSchema();
    const pools = [newPool(), newPool()] as const;
    const clock = testClock();
    // The database judges by its own clock, which cannot be moved.
    const store = openPostgres({
      description: schema.name,
      pool: poolOf(pools),
      schema: schema.name,
      fixedNow: clock.now,
    });
    await prepare(store);
    const cleanup = async (): Promise<void> => {
      await store.close();
      await Promise.all(pools.map((pool) => pool.end()));
      // The next test need not wait for it.
      drops.push(schema.drop());
    };
    return { store, clock, cleanup };
  };
}
