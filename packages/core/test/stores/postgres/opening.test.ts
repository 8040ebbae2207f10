import { runtime, step } from 'adjutant';
import { type PostgresOptions, postgres } from 'adjutant/postgres';
import pg from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import type { LedgerStore, Store } from '../../../src/ledger/port.ts';
import { newPool, newSchema, reasonToSkip, serverUrl, type TestSchema } from './server.ts';
import { codeOf, notes, readTexts } from './writer.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function newTestSchema(): TestSchema {
  const schema = newSchema();
  cleanups.push(() => schema.drop());
  return schema;
}

function open(schema: string, url = serverUrl): Store {
  const pool = newPool(url);
  const store = postgres({ pool, schema });
  cleanups.push(async () => {
    await store.close();
    await pool.end();
  });
  return store;
}

const ledgersOf = (store: Store): LedgerStore => store.for({ tenant: 'acme', app: 'shop' });
/** As JavaScript calls it, where no compiler has checked the options. */
const unchecked = postgres as (...args: readonly unknown[]) => unknown;
const pool = {
  query: async () => ({ rows: [] }),
  connect: async () => Promise.reject(new Error('no connection')),
} as PostgresOptions['pool'];

test.each<[string, readonly unknown[], string]>([
  ['nothing', [], 'the options must be an object, not undefined'],
  [
    'a path',
    ['app.db'],
    "the connection string must look like 'postgres://user@host:5432/database'",
  ],
  [
    'no pool',
    [{ schema: 'x' }],
    '`pool` must be a pool with the methods `query` and `connect`, such as `new pg.Pool(…)`',
  ],
  ['something else for a pool', [{ pool: {} }], '`pool` must be a pool'],
  [
    'an option that does not exist',
    [{ pool, schemas: 'x' }],
    'there is no option `schemas` (did you mean `schema`?)',
  ],
  [
    'a schema of the system',
    [{ pool, schema: 'pg_mine' }],
    '`schema` must be a name of 1 to 63 bytes',
  ],
  [
    'a name that is too long',
    [{ pool, schema: 'ä'.repeat(32) }],
    '`schema` must be a name of 1 to 63 bytes',
  ],
  [
    'an incomplete address for listening',
    [{ pool, listen: {} }],
    '`listen` must be a function that gives a connected client',
  ],
  ['a pool besides a connection string', ['postgres://x/y', { pool }], 'there is no option `pool`'],
  ['a second object of options', [{ pool }, {}], 'all options go into the one object'],
])('postgres() with %s is refused', (_, args, message) => {
  expect(() => unchecked(...args)).toThrow(
    expect.objectContaining({ code: 'invalid_store', message: expect.stringContaining(message) }),
  );
});

describe('a server that cannot be used', () => {
  test('and does not answer may be back later', async () => {
    const store = postgres('postgres://postgres@127.0.0.1:1/test');
    const error = await ledgersOf(store)
      .head('s')
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('cannot be reached'),
    });
    expect((error as { data: object }).data).not.toHaveProperty('permanent');
    await store.close();
  });
});

/** Undoes the step that made turns. */
async function dropTurns({ name, query }: TestSchema): Promise<void> {
  const tables = ['turns', 'flows', 'rates', 'picks', 'outbox', 'listed_rows', 'tombstones'];
  await query(`drop table ${tables.map((table) => `"${name}".${table}`).join(', ')} cascade`);
  await query(`drop type "${name}".asked cascade`);
  await query(`alter table "${name}".inbox drop column wakes, drop column has_turn`);
  await query(`alter table "${name}".ledgers drop column opened, drop column has_turn`);
}

describe.skipIf(reasonToSkip !== undefined)('opening', () => {
  test('makes the schema once, of however many processes start at once', async () => {
    const schema = newTestSchema();
    const stores = Array.from({ length: 8 }, () => ledgersOf(open(schema.name)));
    const codes = await Promise.all(
      stores.map((ledgers, i) => codeOf(ledgers.claim(`s${i}`, 'me', { ttlMs: 30_000 }))),
    );
    expect(codes).toEqual(codes.map(() => 'resolved'));
    expect(await stores[0]?.list()).toHaveLength(8);
    expect(await schema.query(`select version from "${schema.name}".migrations`)).toEqual([
      { version: 1 },
      { version: 2 },
      { version: 3 },
      { version: 4 },
      { version: 5 },
      { version: 6 },
      { version: 7 },
      { version: 8 },
    ]);
  });

  test('refuses a schema of a newer version, and changes nothing', async () => {
    const schema = newTestSchema();
    await ledgersOf(open(schema.name)).claim('s', 'me', { ttlMs: 30_000 });
    await schema.query(`insert into "${schema.name}".migrations (version) values (1000)`);
    const error = await ledgersOf(open(schema.name))
      .head('s')
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'store_too_new', data: { found: 1000, supported: 8 } });
  });

  test('finds the runs that an older version has recorded by their ids', async () => {
    const schema = newTestSchema();
    const run = async (runId: string): Promise<LedgerStore> => {
      const store = open(schema.name);
      const app = runtime({ app: 'shop', tenant: 'acme', store, recover: 'manual' });
      await app.run(step({ name: 'one', execute: () => undefined }), { session: 's', runId });
      return ledgersOf(store);
    };
    expect(await (await run('old')).sessionsOfRun?.('old')).toEqual(['s']);
    await schema.query(`drop index "${schema.name}".events_by_run`);
    await dropTurns(schema);
    await schema.query(`delete from "${schema.name}".migrations where version >= 4`);
    const ledgers = await run('new');
    expect(await ledgers.sessionsOfRun?.('old')).toEqual(['s']);
    expect(await ledgers.sessionsOfRun?.('new')).toEqual(['s']);
    const indexes = await schema.query(
      `select indexname from pg_indexes where schemaname = '${schema.name}'`,
    );
    expect(indexes).toContainEqual({ indexname: 'events_by_run' });
  });

  test('needs no right to create anything once the schema is there', async () => {
    const schema = newTestSchema();
    await ledgersOf(open(schema.name)).claim('s', 'me', { ttlMs: 30_000 });
    const role = `${schema.name}_user`;
    await schema.query(`create role ${role} login`);
    cleanups.push(async () => {
      await schema.query(`drop owned by ${role}`);
      await schema.query(`drop role ${role}`);
    });
    const url = new URL(serverUrl);
    url.username = role;
    const before = await ledgersOf(open(schema.name, url.href))
      .head('s')
      .catch((thrown: unknown) => thrown);
    expect(before).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('lacks a right'),
      data: { permanent: true },
    });
    await schema.query(`grant usage on schema "${schema.name}" to ${role}`);
    await schema.query(
      `grant select, insert, update, delete on all tables in schema "${schema.name}" to ${role}`,
    );
    const ledgers = ledgersOf(open(schema.name, url.href));
    await ledgers.claim('s', 'me', { ttlMs: 30_000 });
    await ledgers.append('s', { seq: 0, epoch: 2 }, { events: notes(0, ['a']) });
    expect(await readTexts(ledgers, 's')).toEqual(['a']);
  });

  test('a database that does not exist is a lasting failure', async () => {
    const url = new URL(serverUrl);
    url.pathname = '/there_is_no_such_database';
    const refused = ledgersOf(open('adjutant', url.href)).head('s');
    await expect(refused).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('does not exist'),
      data: { permanent: true },
    });
  });

  test('takes a connection string, and then has a pool of its own', async () => {
    const schema = newTestSchema();
    const store = postgres(serverUrl, { schema: schema.name });
    const ledgers = ledgersOf(store);
    await ledgers.claim('s', 'me', { ttlMs: 30_000 });
    const controller = new AbortController();
    const follower = ledgers.follow('s', 0, controller.signal)[Symbol.asyncIterator]();
    await ledgers.append('s', { seq: 0, epoch: 1 }, { events: notes(0, ['a']) });
    expect((await follower.next()).value).toMatchObject({ text: 'a' });
    controller.abort();
    await store.close();
    expect(await codeOf(ledgers.head('s'))).toBe('store_unavailable');
  });
});

describe.skipIf(reasonToSkip !== undefined)('names and texts', () => {
  test('may be any, also of the schema', async () => {
    const name = `Adjutant "test" ${newSchema().name.slice(-6)}`;
    const admin = new pg.Client({ connectionString: serverUrl });
    await admin.connect();
    cleanups.push(async () => {
      await admin.query(`drop schema "${name.replaceAll('"', '""')}" cascade`);
      await admin.end();
    });
    const ledgers = ledgersOf(open(name));
    const strange = [
      'null\0byte',
      'back\\slash',
      '\\0000',
      'half \ud800',
      'quote \' and "',
      '👋',
      '__proto__',
    ];
    for (const text of strange) {
      await ledgers.claim(text, text, { ttlMs: 30_000 });
      const item = {
        key: text,
        lane: 'input',
        by: `user:${text}`,
        at: 1,
        type: 'user',
        data: { [text]: text },
      } as const;
      expect(await ledgers.post(text, item)).toMatchObject({ inboxSeq: 1, duplicate: false });
      expect(await ledgers.inbox(text)).toEqual([{ ...item, position: 1 }]);
      const shared = [{ scope: text, scopeId: text, key: text, value: text, baseVersion: 0 }];
      const summary = { status: 'active', title: text, runnable: text, user: text } as const;
      await ledgers.append(
        text,
        { seq: 0, epoch: 1 },
        { events: notes(0, [text]), shared, summary },
      );
      expect(await readTexts(ledgers, text)).toEqual([text]);
      expect(Object.entries(await ledgers.readShared(text, text))).toEqual([
        [text, { value: text, version: 1 }],
      ]);
      expect(await ledgers.list({ user: text })).toMatchObject([
        { id: text, title: text, runnable: text, user: text },
      ]);
    }
    expect(await ledgers.list()).toHaveLength(strange.length);
  });
});

describe.skipIf(reasonToSkip !== undefined)('damaged rows', () => {
  test('are named, and shown beside what can be read', async () => {
    const schema = newTestSchema();
    const ledgers = ledgersOf(open(schema.name));
    await ledgers.claim('s', 'me', { ttlMs: 30_000 });
    await ledgers.append('s', { seq: 0, epoch: 1 }, { events: notes(0, ['a', 'b', 'c', 'd']) });
    await schema.query(`update "${schema.name}".events set body = 'torn' where seq = 2`);
    await schema.query(`delete from "${schema.name}".events where seq = 4`);
    await expect(readTexts(ledgers, 's')).rejects.toMatchObject({
      code: 'ledger_unreadable',
      data: { seq: 2 },
    });
    const stored: unknown[] = [];
    for await (const page of ledgers.readStored('s')) stored.push(...page);
    expect(stored).toMatchObject([
      { seq: 1, text: 'a' },
      {
        seq: 2,
        type: 'unreadable',
        reason: 'its text is damaged',
        stored: expect.stringContaining('torn'),
      },
      { seq: 3, text: 'c' },
      { seq: 4, type: 'unreadable', reason: 'it is missing' },
    ]);
  });
});
