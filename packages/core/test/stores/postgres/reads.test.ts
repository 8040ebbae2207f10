import { postgres } from 'adjutant/postgres';
import pg from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import { newSchema, reasonToSkip, serverUrl } from './server.ts';

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const scope = { tenant: 'acme', app: 'shop' };
const sessions = 300;

describe.skipIf(reasonToSkip !== undefined)('reads of PostgreSQL', () => {
  test('do not grow with the sessions that are not due', async () => {
    const schema = newSchema();
    cleanups.push(() => schema.drop());
    // One connection, so that all statements are of the transaction whose reads are counted.
    const pool = new pg.Pool({ connectionString: serverUrl, max: 1 });
    cleanups.push(() => pool.end());
    const store = postgres({ pool, schema: schema.name });
    const ledgers = store.for(scope);
    const ids = Array.from({ length: sessions }, (_, i) => String(i));
    for (const id of ids) await ledgers.claim(id, 'me', { ttlMs: 60_000 });

    // The counts may have those of earlier transactions that are not yet reported.
    const reads = async (): Promise<number> => {
      const { rows } = await pool.query<{ reads: string }>(
        `select coalesce(sum(seq_tup_read + idx_tup_fetch), 0) as reads
          from pg_stat_xact_user_tables where schemaname = $1 and relname = 'ledgers'`,
        [schema.name],
      );
      return Number(rows[0]?.reads);
    };
    await pool.query('begin');
    const before = await reads();
    await store.admin.take({ app: scope.app, owner: 'me', ticket: 't', ttlMs: 60_000, slots: 1 });
    await ledgers.head('0');
    const counted = (await reads()) - before;
    await pool.query('rollback');
    expect(counted).toBeLessThan(sessions / 4);
  });
});
