import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Store } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import type { LedgerStore } from 'adjutant/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { testClock } from '../../../src/base/clocks/test-clock.ts';
import {
  pendingRequest,
  readAll,
  readTexts,
  Writer,
} from '../../../src/testing/contracts/store/harness.ts';

const scope = { tenant: 'acme', app: 'shop' };
const source = (path: string): string =>
  JSON.stringify(new URL(`../../../src/stores/sqlite/${path}`, import.meta.url).href);
let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'adjutant-b23-'));
  path = join(directory, 'store.db');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function withStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const store = sqlite(path, { synchronous: 'normal', clock: testClock(1_791_000_100_000) });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

function inFile<T>(use: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(path);
  try {
    return use(database);
  } finally {
    database.close();
  }
}

function bytesOfFile(): number {
  return inFile(
    (database) => Number(database.prepare('pragma page_count').get()?.['page_count']) * 4_096,
  );
}

describe('what a round takes in the file', () => {
  const rounds = 50;

  /** The texts of a round, as a bare table with one column for them takes them. */
  function bareBytes(texts: readonly string[]): number {
    const database = new DatabaseSync(':memory:');
    database.exec('create table rows (seq integer primary key, body text) strict');
    const insert = database.prepare('insert into rows (body) values (?)');
    for (let round = 0; round < rounds; round++) for (const text of texts) insert.run(text);
    const pages = Number(database.prepare('pragma page_count').get()?.['page_count']);
    database.close();
    return pages * 4_096;
  }

  test(
    'B23: a round with a result of 0.5 to 32 KB takes at most 1.5 times what bare rows of ' +
      'the same bytes take',
    async () => {
      const found = await withStore(async (store) => {
        const ratios: Record<string, number> = {};
        for (const kb of [0.5, 1, 2, 4, 8, 32]) {
          const texts = [100, 120, 120, 100, kb * 1_024].map((length) => 'x'.repeat(length));
          const writer = await Writer.claim(store.for(scope), `${kb} KB`);
          const before = bytesOfFile();
          for (let round = 0; round < rounds; round++) await writer.write(texts);
          ratios[kb] = (bytesOfFile() - before) / bareBytes(texts);
        }
        return ratios;
      });
      for (const [kb, ratio] of Object.entries(found)) expect(ratio, `${kb} KB`).toBeLessThan(1.5);
    },
  );

  test('B23: no row of a kilobyte takes a page of its own, whichever table it is in', async () => {
    const text = 'x'.repeat(1_150);
    const before = await withStore(async (store) => {
      const ledgers = store.for(scope);
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a']);
      const empty = bytesOfFile();
      for (let i = 0; i < 50; i++) {
        const request = { agent: 'a', summary: text, options: ['approve', 'reject'] as const };
        const shared = [{ scope: 'user', scopeId: '1', key: `k${i}`, value: text, baseVersion: 0 }];
        await writer.write([], { shared, requests: [pendingRequest('s', `q${i}`, { request })] });
        await ledgers.post('s', {
          key: `k${i}`,
          lane: 'input',
          by: 'user',
          at: 1,
          type: 'user',
          data: { text },
        });
        await ledgers.putSnapshot('s', { key: `k${i}`, seq: 1, value: text });
      }
      return empty;
    });
    // Four rows of 1.2 to 1.5 KB each time: two or three lie on a page.
    expect((bytesOfFile() - before) / (50 * 4)).toBeLessThan(2.2 * 1_024);
  });

  test('B23: two ledgers keep their rows apart, at their first rows and their last', async () => {
    await withStore(async (store) => {
      const ledgers = store.for(scope);
      for (const session of ['a', 'b', 'c']) {
        await (await Writer.claim(ledgers, session)).write([`${session}1`, `${session}2`]);
        await ledgers.post(session, {
          key: session,
          lane: 'input',
          by: 'user',
          at: 1,
          type: 'user',
          data: {},
        });
      }
      expect(await readTexts(ledgers, 'b', { after: -5 })).toEqual(['b1', 'b2']);
      expect(await readTexts(ledgers, 'b', { after: 1, upTo: 2 ** 40 })).toEqual(['b2']);
      const { claim } = await Writer.claim(ledgers, 'b');
      // Positions of items that there are not: those of other ledgers are not meant.
      await ledgers.append(
        'b',
        { seq: 2, epoch: claim.epoch },
        { events: [], consumes: [2 ** 32 + 1, 1 - 2 ** 32] },
      );
      for (const session of ['a', 'b', 'c'])
        expect((await ledgers.inbox(session)).map(({ key }) => key)).toEqual([session]);
      await ledgers.delete('b');
      expect(await readTexts(ledgers, 'a')).toEqual(['a1', 'a2']);
      expect(await readTexts(ledgers, 'c')).toEqual(['c1', 'c2']);
      expect((await ledgers.inbox('c')).map(({ key }) => key)).toEqual(['c']);
    });
  });
});

describe('a file of schema version 3', () => {
  const fixtures = new URL('../../fixtures/ledgers/', import.meta.url);
  const held = JSON.parse(readFileSync(new URL('sqlite-v3.json', fixtures), 'utf8')) as unknown;
  const script = readFileSync(new URL('sqlite-v3.sql', fixtures), 'utf8');

  async function heldNow(store: Store): Promise<unknown> {
    const ledgers = store.for(scope);
    const snapshotOf = (session: string, upTo: number) =>
      ledgers.getSnapshot(session, 'fold', upTo);
    const found = {
      old: await readAll(ledgers, 'old'),
      fork: await readAll(ledgers, 'fork'),
      other: await readAll(store.for({ tenant: 'globex', app: 'shop' }), 'other'),
      inbox: await ledgers.inbox('old'),
      requests: await ledgers.requests(),
      shared: await ledgers.readShared('user', '42'),
      list: await ledgers.list(),
      snapshots: [
        await snapshotOf('old', 5),
        await snapshotOf('fork', 4),
        await snapshotOf('old', 6),
      ],
      due: await ledgers.due(),
    };
    return JSON.parse(JSON.stringify(found));
  }

  async function goesOn(ledgers: LedgerStore): Promise<void> {
    await (await Writer.claim(ledgers, 'old')).write(['new'], { consumes: [1] });
    expect((await readTexts(ledgers, 'old', { after: 5 })).at(-1)).toBe('new');
    expect((await ledgers.inbox('old')).map(({ position }) => position)).toEqual([2, 3]);
  }

  /** As many rows as make the migration take several of its steps. */
  function addRows(): void {
    inFile((database) => {
      const insert = database.prepare(
        'insert into events (ledger, seq, at, type, actor, path, body) values (77, ?, 1, ' +
          '1, 0, 0, ?)',
      );
      database.exec('begin');
      for (let seq = 1; seq <= 9_000; seq++) insert.run(seq, `"e${seq}",2,"text ${seq}"`);
      database.exec(`insert into ledgers (id, tenant, app, session, base, seq, epoch, inbox_seq, created_at, updated_at, status)
        values (77, 'acme', 'many', 'many', 0, 9000, 1, 0, 1, 1, 'active'); commit`);
    });
  }

  const otherProcess = (code: string) =>
    spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });

  test('B23: opens with all that it held, byte for byte, and goes on', async () => {
    inFile((database) => database.exec(`pragma journal_mode = wal; ${script}`));
    await withStore(async (store) => {
      expect(await heldNow(store)).toEqual(held);
      await goesOn(store.for(scope));
    });
    inFile((database) =>
      expect(database.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' }),
    );
  });

  test(
    'B23: is the old one after a process that was killed in the middle of its migration, and ' +
      'opens then',
    async () => {
      inFile((database) => database.exec(`pragma journal_mode = wal; ${script}`));
      addRows();
      const killed = otherProcess(`
      import { DatabaseSync } from 'node:sqlite';
      import { giveRowsIds } from ${source('rows/rows-by-id.ts')};
      const database = new DatabaseSync(${JSON.stringify(path)});
      database.exec('pragma journal_mode = wal; pragma cache_size = 10; begin immediate');
      giveRowsIds(database);
      process.kill(process.pid, 'SIGKILL');`);
      const [, signal] = await once(killed, 'close');
      expect(signal).toBe('SIGKILL');
      expect(inFile((database) => database.prepare('pragma user_version').get())).toEqual({
        user_version: 3,
      });
      await withStore(async (store) => {
        expect(await heldNow(store)).toEqual(held);
        expect(
          await readTexts(store.for({ tenant: 'acme', app: 'many' }), 'many', { after: 8_999 }),
        ).toEqual(['text 9000']);
      });
    },
  );

  test('B23: is migrated once by processes that open it at the same time', async () => {
    inFile((database) => database.exec(`pragma journal_mode = wal; ${script}`));
    addRows();
    const opening = `
      import { sqlite } from ${source('index.ts')};
      const store = sqlite(${JSON.stringify(path)});
      if ((await store.for({ tenant: 'acme', app: 'many' }).head('many'))?.seq !== 9000) throw new Error('not as it was');
      await store.close();`;
    const codes = await Promise.all(
      [1, 2, 3].map(async () => (await once(otherProcess(opening), 'close'))[0] as unknown),
    );
    expect(codes).toEqual([0, 0, 0]);
    await withStore(async (store) => {
      expect(await heldNow(store)).toEqual(held);
      expect((await readTexts(store.for({ tenant: 'acme', app: 'many' }), 'many')).length).toBe(
        9_000,
      );
    });
  });

  test('B23: has no copy of a session left that is deleted afterwards', async () => {
    inFile((database) => database.exec(`pragma journal_mode = wal; ${script}`));
    await withStore(async (store) => {
      await store.for(scope).delete('old', { erase: true });
    });
    const bytes = readFileSync(path).toString('latin1');
    expect(bytes).toContain('of another tenant');
    for (const text of ['medium ', 'page ', 'large ', 'fork ', 'snapshot ', 'wait ', 'Refund '])
      expect(bytes).not.toContain(text);
  });
});
