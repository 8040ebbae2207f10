import type pg from 'pg';
import type { PostgresPool } from '../../src/stores/postgres/pool.ts';

/**
 * A pool as a pooler for transactions makes of it, at its worst: each statement gets another
 * connection than the one before, from which all is discarded that a statement may have left in it.
 * Only a connection that is lent, for listening, is a real one.
 */
export function statelessPool(pools: readonly [pg.Pool, pg.Pool]): PostgresPool {
  let turn = 0;
  return {
    query: async (text, values) => {
      turn += 1;
      const client = await (pools[turn % 2] as pg.Pool).connect();
      try {
        await client.query('discard all');
        return await client.query(text, values);
      } finally {
        client.release();
      }
    },
    connect: () => pools[0].connect(),
  };
}
