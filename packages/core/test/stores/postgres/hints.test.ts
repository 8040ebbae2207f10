import { testClock } from 'adjutant/testing';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPostgres } from '../../../src/stores/postgres/store.ts';
import { newPool, newSchema, reasonToSkip, serverUrl } from './server.ts';
import { notes } from './writer.ts';

const writes = 30;

/** A store whose clock stands still, and what it tells others. */
async function opened() {
  const schema = newSchema();
  const pool = newPool();
  const clock = testClock();
  const store = openPostgres({ description: 'hints', pool, schema: schema.name, clock });
  const ledgers = store.for({ tenant: 'acme', app: 'shop' });
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  const heard: string[] = [];
  let wanted = { count: Number.POSITIVE_INFINITY, resolve: (): void => undefined };
  client.on('notification', ({ payload = '' }) => {
    heard.push(payload);
    if (heard.length >= wanted.count) wanted.resolve();
  });
  const hear = (count: number): Promise<void> =>
    new Promise((resolve) => {
      wanted = { count, resolve };
      if (heard.length >= count) resolve();
    });
  await client.query(`listen "${schema.name}"`);
  onTestFinished(async () => {
    await store.close();
    await Promise.all([pool.end(), client.end()]);
    await schema.drop();
  });
  for (let i = 0; i < writes; i++) await ledgers.claim(`s${i}`, 'me', { ttlMs: 30_000 });
  await schema.query(`select "${schema.name}".listen('somebody', 60000)`);
  const append = (session: string, seq: number) =>
    ledgers.append(session, { seq, epoch: 1 }, { events: notes(seq, ['text']) });
  return { append, clock, heard, hear, schema, store };
}

describe.skipIf(reasonToSkip !== undefined)('hints to other processes', () => {
  test('are one for the process, at most 20 a second, and name all that changed', async () => {
    const { append, clock, heard, hear } = await opened();
    // The reply to the first write says that somebody listens.
    await append('s0', 0);
    await hear(1);
    for (let i = 1; i < writes; i++) await append(`s${i}`, 0);
    await append('s1', 1);
    clock.advance(49);
    await append('s2', 1);
    expect(heard).toHaveLength(1);
    clock.advance(1);
    await hear(2);
    expect(JSON.parse(heard[0] ?? '')).toHaveLength(1);
    // Each session once, and none is missing.
    expect(JSON.parse(heard[1] ?? '')).toHaveLength(writes - 1);
    clock.advance(1_000);
    await append('s0', 1);
    await hear(3);
    expect(JSON.parse(heard[2] ?? '')).toEqual(JSON.parse(heard[0] ?? ''));
  });

  test('that wait are sent when the store is closed', async () => {
    const { append, heard, hear, store } = await opened();
    await append('s0', 0);
    await hear(1);
    await append('s1', 0);
    await store.close();
    await hear(2);
    expect(heard).toHaveLength(2);
  });

  test('are no part of the append: none is sent from the function that writes', async () => {
    const { schema } = await opened();
    const [{ functions } = { functions: '' }] = await schema.query(
      "select string_agg(prosrc, '') as functions from pg_proc p " +
        'join pg_namespace n on n.oid = pronamespace where nspname = $1',
      [schema.name],
    );
    expect(String(functions)).not.toMatch(/\bnotify\b/i);
  });
});
