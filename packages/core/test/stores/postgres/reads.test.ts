import { runtime, step } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import pg from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import { newSchema, reasonToSkip, serverUrl } from './server.ts';

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const tasks = 300;

describe.skipIf(reasonToSkip !== undefined)('reads of PostgreSQL', () => {
  test('a look for turns does not read the sessions that have ended', async () => {
    const schema = newSchema();
    cleanups.push(() => schema.drop());
    const nothing = step({ name: 'nothing', execute: (ctx) => ctx.complete(true) });
    const store = postgres(serverUrl, { schema: schema.name });
    const app = runtime({ app: 'shop', store, runnables: [nothing], work: { slots: 20 } });
    const submitted = await Promise.all(
      Array.from({ length: tasks }, () => app.submit(nothing, 'go')),
    );
    await Promise.all(submitted.map((task) => task.wait()));
    await app.close();
    await store.close();

    // One connection, so that all statements are of the transaction whose reads are counted.
    const pool = new pg.Pool({ connectionString: serverUrl, max: 1 });
    cleanups.push(() => pool.end());
    const { admin } = postgres({ pool, schema: schema.name });
    const take = () =>
      admin.take({ app: 'shop', owner: 'me', ticket: 't', ttlMs: 60_000, slots: 1 });
    // The counts may have those of earlier transactions that are not yet reported.
    const reads = async (): Promise<number> => {
      const { rows } = await pool.query<{ reads: string }>(
        `select coalesce(sum(seq_tup_read + idx_tup_fetch), 0) as reads
          from pg_stat_xact_user_tables where schemaname = $1 and relname = 'ledgers'`,
        [schema.name],
      );
      return Number(rows[0]?.reads);
    };
    await take();
    await pool.query('begin');
    const before = await reads();
    await take();
    const counted = (await reads()) - before;
    await pool.query('rollback');
    expect(counted).toBeLessThan(tasks / 4);
  });

  test('a session is looked up by its name, in an empty store as well', async () => {
    const schema = newSchema();
    cleanups.push(() => schema.drop());
    const store = postgres(serverUrl, { schema: schema.name });
    cleanups.push(() => store.close());
    await store.for({ tenant: 'acme', app: 'shop' }).list({ limit: 1 });
    const rows = await schema.query(
      `explain select seq from ${schema.name}.ledgers
        where tenant = $1 and app = $2 and session = $3`,
      ['acme', 'shop', 's'],
    );
    expect(JSON.stringify(rows)).toContain('ledgers_tenant_app_session_key');
  });
});
