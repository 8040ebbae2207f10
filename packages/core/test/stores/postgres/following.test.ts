import type { Event } from 'adjutant';
import { type PostgresOptions, postgres } from 'adjutant/postgres';
import pg from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import type { LedgerStore, Store } from '../../../src/ledger/port.ts';
import { cuttingProxy } from './cutting-proxy.ts';
import { newPool, newSchema, reasonToSkip, serverUrl, type TestSchema } from './server.ts';
import { codeOf, notes } from './writer.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function newTestSchema(): TestSchema {
  const schema = newSchema();
  cleanups.push(() => schema.drop());
  return schema;
}

function open(
  schema: TestSchema,
  options: Omit<PostgresOptions, 'pool'> = {},
  url = serverUrl,
): Store {
  const pool = newPool(url);
  const store = postgres({ pool, schema: schema.name, ...options });
  cleanups.push(async () => {
    await store.close();
    await pool.end();
  });
  return store;
}

const scope = { tenant: 'acme', app: 'shop' };

/** Takes the text of the next event that a follower gets. */
async function nextText(follower: AsyncIterator<Event>): Promise<unknown> {
  const { value } = await follower.next();
  return (value as { text?: unknown } | undefined)?.text;
}

async function write(ledgers: LedgerStore, seq: number, text: string): Promise<void> {
  await ledgers.append('s', { seq, epoch: 1 }, { events: notes(seq, [text]) });
}

describe.skipIf(reasonToSkip !== undefined)('follow', () => {
  test('gives what another process writes', async () => {
    const schema = newTestSchema();
    const writer = open(schema).for(scope);
    await writer.claim('s', 'me', { ttlMs: 30_000 });
    const follower = open(schema)
      .for(scope)
      .follow('s', 0, new AbortController().signal)
      [Symbol.asyncIterator]();
    for (let seq = 0; seq < 10; seq++) {
      const next = nextText(follower);
      await write(writer, seq, `n${seq}`);
      expect(await next).toBe(`n${seq}`);
    }
    await follower.return?.();
  });

  test(
    'is told by notifications that name no session, and only while another ' + 'store listens',
    async () => {
      const schema = newTestSchema();
      const writer = open(schema).for(scope);
      await writer.claim('secret', 'me', { ttlMs: 30_000 });
      const client = new pg.Client({ connectionString: serverUrl });
      await client.connect();
      cleanups.push(() => client.end());
      const heard: string[] = [];
      let onNotification: () => void = () => undefined;
      client.on('notification', ({ payload = '' }) => {
        heard.push(payload);
        onNotification();
      });
      await client.query(`listen "${schema.name}"`);
      await writer.append('secret', { seq: 0, epoch: 1 }, { events: notes(0, ['unheard']) });
      await client.query('select 1');
      expect(heard).toEqual([]);

      await schema.query(`select "${schema.name}".listen('somebody', 60000)`);
      const notified = new Promise<void>((resolve) => {
        onNotification = resolve;
      });
      await writer.append('secret', { seq: 1, epoch: 1 }, { events: notes(1, ['heard']) });
      await notified;
      expect(heard[0]).toMatch(/^\["[0-9a-f]{20}"\]$/);
    },
  );

  test('goes on when its connection is lost, without a gap', async () => {
    const schema = newTestSchema();
    const writer = open(schema).for(scope);
    await writer.claim('s', 'me', { ttlMs: 30_000 });
    const proxy = await cuttingProxy(serverUrl);
    cleanups.push(() => proxy.close());
    const listen = { connectionString: proxy.url };
    const follower = open(schema, { listen })
      .for(scope)
      .follow('s', 0, new AbortController().signal)
      [Symbol.asyncIterator]();
    await write(writer, 0, 'before');
    expect(await nextText(follower)).toBe('before');
    proxy.cutAll();
    await write(writer, 1, 'while it is cut');
    expect(await nextText(follower)).toBe('while it is cut');
    proxy.restore();
    await write(writer, 2, 'after');
    expect(await nextText(follower)).toBe('after');
    await follower.return?.();
  });

  test('waits for a database that is away, once it has begun', async () => {
    const schema = newTestSchema();
    const writer = open(schema).for(scope);
    await writer.claim('s', 'me', { ttlMs: 30_000 });
    const proxy = await cuttingProxy(serverUrl);
    cleanups.push(() => proxy.close());
    const away = open(schema, {}, proxy.url).for(scope);
    const follower = away.follow('s', 0, new AbortController().signal)[Symbol.asyncIterator]();
    await write(writer, 0, 'before');
    expect(await nextText(follower)).toBe('before');
    const next = nextText(follower);
    proxy.cutAll();
    expect(await codeOf(away.head('s'))).toBe('store_unavailable');
    await write(writer, 1, 'while it is away');
    expect(await codeOf(away.head('s'))).toBe('store_unavailable');
    proxy.restore();
    expect(await next).toBe('while it is away');
    await follower.return?.();
  });

  test('needs a direct connection when the pool is one of transactions', async () => {
    const schema = newTestSchema();
    const ledgers = open(schema, { transactionPooling: true }).for(scope);
    await ledgers.claim('s', 'me', { ttlMs: 30_000 });
    const refused = ledgers
      .follow('s', 0, new AbortController().signal)
      [Symbol.asyncIterator]()
      .next();
    await expect(refused).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('`listen`'),
      data: { permanent: true },
    });
    const connected = async (): Promise<pg.Client> => {
      const client = new pg.Client({ connectionString: serverUrl });
      await client.connect();
      return client;
    };
    const other = open(schema, { transactionPooling: true, listen: connected }).for(scope);
    const follower = other.follow('s', 0, new AbortController().signal)[Symbol.asyncIterator]();
    const next = nextText(follower);
    await write(ledgers, 0, 'a');
    expect(await next).toBe('a');
    await follower.return?.();
  });
});
