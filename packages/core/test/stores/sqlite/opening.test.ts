import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { runtime, step } from 'adjutant';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { testClock } from '../../../src/base/clocks/test-clock.ts';
import type { AdjutantError } from '../../../src/base/error.ts';
import { type SqliteOptions, sqlite } from '../../../src/stores/sqlite/index.ts';
import { whereRun } from '../../../src/stores/sqlite/tables.ts';
import {
  errorOf,
  inboxItem,
  pendingRequest,
  readAll,
  readTexts,
  Writer,
} from '../../../src/testing/contracts/store/harness.ts';

const scope = { tenant: 'acme', app: 'shop' };
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'adjutant-open-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

async function firstError(path: string, options?: SqliteOptions): Promise<unknown> {
  const store = sqlite(path, options);
  try {
    return await errorOf(store.for(scope).claim('s', 'a', { ttlMs: 1_000 }));
  } finally {
    await store.close();
  }
}

describe('a store that cannot be opened says why', () => {
  test('missing directory', async () => {
    const path = join(directory, 'missing', 'store.db');
    expect(await firstError(path)).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('missing does not exist; create it first'),
    });
    expect(await firstError(path)).toMatchObject({ data: { store: path, permanent: true } });
  });

  test('directory', async () => {
    expect(await firstError(directory)).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('is a directory, not a file'),
    });
  });

  test('file in the place of the directory', async () => {
    writeFileSync(join(directory, 'file'), '');
    expect(await firstError(join(directory, 'file', 'store.db'))).toMatchObject({
      code: 'store_unavailable',
    });
  });

  test('not a database', async () => {
    const path = join(directory, 'notes.txt');
    writeFileSync(path, 'These are my notes. '.repeat(200));
    expect(await firstError(path)).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('it is not a SQLite database'),
      data: { permanent: true },
    });
    expect(readFileSync(path, 'utf8')).toBe('These are my notes. '.repeat(200));
  });

  test('database of another application', async () => {
    const path = join(directory, 'other.db');
    const other = new DatabaseSync(path);
    other.exec('create table customers (id integer)');
    other.close();
    const before = readFileSync(path);
    expect(await firstError(path)).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('of another application'),
    });
    expect(readFileSync(path)).toEqual(before);
  });

  test('place where no file can be made', async () => {
    expect(await firstError('/proc/adjutant-store.db')).toMatchObject({
      code: 'store_unavailable',
    });
  });

  test('locked by somebody else for longer than the timeout', async () => {
    const path = join(directory, 'store.db');
    await firstError(path);
    const other = new DatabaseSync(path);
    other.exec('begin immediate');
    const error = await firstError(path, { busyTimeoutMs: 50 });
    expect(error).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('kept it locked for longer than 0.05 s'),
    });
    // Others will give the lock back: an append is sent again.
    expect((error as AdjutantError).data).not.toHaveProperty('permanent');
    other.exec('rollback');
    other.close();
    expect(await firstError(path)).toBeUndefined();
  });

  test('and works once the reason is gone', async () => {
    const path = join(directory, 'later', 'store.db');
    const store = sqlite(path);
    expect(await errorOf(store.for(scope).head('s'))).toMatchObject({ code: 'store_unavailable' });
    mkdirSync(join(directory, 'later'));
    expect(await store.for(scope).head('s')).toBeUndefined();
    await store.close();
  });
});

describe('schema versions', () => {
  const fixtures = new URL('../../fixtures/ledgers/', import.meta.url);

  function fileOf(...scripts: readonly string[]): string {
    const path = join(directory, 'old.db');
    const database = new DatabaseSync(path);
    for (const script of scripts) database.exec(readFileSync(new URL(script, fixtures), 'utf8'));
    database.close();
    return path;
  }

  test('a file of version 1 opens, keeps its ledgers and can be written', async () => {
    const path = fileOf('sqlite-v1.sql');
    const store = sqlite(path);
    const ledgers = store.for(scope);
    expect(await readTexts(ledgers, 'old')).toEqual([
      'Hello',
      'invocation_start',
      'What can I do?',
    ]);
    expect(await readTexts(ledgers, 'old fork')).toEqual(['Hello', 'invocation_start']);
    expect((await ledgers.inbox('old')).map(({ key }) => key)).toEqual(['waiting']);
    expect(await ledgers.readShared('user', '1')).toEqual({ name: { value: 'Ada', version: 3 } });
    const writer = await Writer.claim(ledgers, 'old');
    expect(writer.claim).toMatchObject({ epoch: 3, seq: 3 });
    await writer.write(['new'], { wakeAt: 1_800_000_000_000, consumes: [1] });
    expect(await readTexts(ledgers, 'old', { after: 1 })).toEqual([
      'invocation_start',
      'What can I do?',
      'new',
    ]);
    await store.close();
    const after = new DatabaseSync(path);
    expect(after.prepare('pragma user_version').get()).toEqual({ user_version: 8 });
    expect(after.prepare("select wake_at from ledgers where session = 'old'").get()).toEqual({
      wake_at: 1_800_000_000_000,
    });
    after.close();
  });

  test('a file of version 2 opens, keeps all that it holds and can do what is new', async () => {
    const path = fileOf('sqlite-v2.sql');
    const store = sqlite(path, { clock: testClock(1_791_000_200_000) });
    const ledgers = store.for(scope);
    expect(await readTexts(ledgers, 'old')).toEqual([
      'Hello',
      'invocation_start',
      'What can I do?',
      'tool_yield',
    ]);
    expect((await readAll(ledgers, 'old', { after: 3 }))[0]).toMatchObject({
      callId: 'run1/r1.0',
      request: { question: 'Refund?' },
    });
    expect(await readTexts(ledgers, 'old fork')).toEqual(['Hello', 'invocation_start']);
    expect(await ledgers.list({ order: 'createdAt', status: 'awaiting_input' })).toMatchObject([
      { id: 'old', title: 'Hello', runnable: 'support' },
    ]);
    expect(await ledgers.inbox('old')).toMatchObject([
      { key: 'waiting', data: { text: 'Refund order 17' } },
    ]);
    expect((await ledgers.inbox('old'))[0]).not.toHaveProperty('settles');
    expect(await ledgers.due()).toEqual([{ ...scope, session: 'old' }]);
    const writer = await Writer.claim(ledgers, 'old');
    expect(writer.claim).toMatchObject({ epoch: 2, seq: 4, inboxSeq: 1 });
    await writer.write(['new'], {
      requests: [pendingRequest('old', 'q')],
      consumes: [1],
      wakeAt: null,
    });
    expect(await ledgers.due()).toEqual([]);
    expect(await ledgers.requests()).toMatchObject([{ requestId: 'q' }]);
    await ledgers.fork('old fork at 0', 0, 'new fork');
    await ledgers.delete('old');
    // References to a blob in an old file are not known by event: each counts for as long as
    // anything of its session does.
    expect(await store.admin.sweepBlobs({ olderThanMs: 0 })).toBe(0);
    expect(await readTexts(ledgers, 'old fork')).toEqual(['Hello', 'invocation_start']);
    await ledgers.delete('old fork');
    expect(await store.admin.sweepBlobs({ olderThanMs: 0 })).toBe(0);
    const file = new DatabaseSync(path);
    expect(file.prepare('select count(*) as blobs from blobs').get()).toEqual({ blobs: 0 });
    file.close();
    expect((await ledgers.list()).map(({ id }) => id).sort()).toEqual([
      'new fork',
      'old fork at 0',
    ]);
    await store.close();
  });

  test.each(['sqlite-v1.sql', 'sqlite-v2.sql', 'sqlite-v7.sql'])(
    'a file migrated from %s has the schema of a new one',
    async (old) => {
      const migrated = fileOf(old);
      const made = join(directory, 'new.db');
      const schemas: unknown[] = [];
      for (const path of [migrated, made]) {
        const store = sqlite(path);
        await store.for(scope).head('s');
        await store.close();
        const database = new DatabaseSync(path);
        schemas.push(
          database
            .prepare(
              "select name, replace(replace(sql, ' ', ''), char(10), '') as sql from " +
                'sqlite_schema order by name',
            )
            .all(),
        );
        database.close();
      }
      expect(schemas[0]).toEqual(schemas[1]);
    },
  );

  test('a file of version 7 opens, and its sessions are taken like those with a turn', async () => {
    const path = fileOf('sqlite-v7.sql');
    const clock = testClock(1_791_000_100_000);
    const store = sqlite(path, { clock });
    const ledgers = store.for(scope);
    expect(await readTexts(ledgers, 'fork')).toEqual(['Hello of idle']);
    expect((await ledgers.due()).map(({ session }) => session)).toEqual(['waits', 'sleeps']);
    expect(await ledgers.turns()).toEqual([]);
    expect(await ledgers.birth('waits')).toBe('2');
    const asked = { app: 'shop', owner: 'worker', ticket: 't', ttlMs: 60_000, slots: 5 };
    const taken = await store.admin.take(asked);
    expect(taken.taken.map(({ session }) => session)).toEqual(['waits', 'sleeps']);
    await ledgers.post('idle', inboxItem('task'), { turn: { run: 'task', queue: 'nightly' } });
    expect(await ledgers.turn('idle')).toMatchObject({ state: 'ready', queue: 'nightly' });
    // A session from before this version was made by no post: its name is free again.
    await ledgers.delete('idle');
    await ledgers.post('idle', inboxItem('task'), { open: true });
    await store.close();
  });

  test('runs that an older version has recorded are found by their ids', async () => {
    const path = fileOf('sqlite-v7.sql');
    const older = new DatabaseSync(path);
    older.exec('drop index events_by_run; pragma user_version = 6');
    older.close();
    const app = runtime({ ...scope, store: sqlite(path), recover: 'manual' });
    const one = step({ name: 'one', execute: () => undefined });
    await app.run(one, { session: 'new one', runId: 'new' });
    await app.close();
    const store = sqlite(path);
    for (const [run, session] of Object.entries({ old: 'ran', new: 'new one' }))
      expect(await store.for(scope).sessionsOfRun?.(run)).toEqual([session]);
    await store.close();
    const now = new DatabaseSync(path);
    const plan = now
      .prepare(`explain query plan select ledger from events ${whereRun} and path = ?`)
      .all('"old"');
    now.close();
    expect(JSON.stringify(plan)).toContain('INDEX events_by_run');
  });

  test('a file of a newer version is refused and not touched', async () => {
    const path = fileOf('sqlite-v1.sql');
    const newer = new DatabaseSync(path);
    newer.exec('pragma user_version = 99');
    newer.close();
    const before = readFileSync(path);
    expect(await firstError(path)).toMatchObject({
      code: 'store_too_new',
      data: { store: path, found: 99, supported: 8 },
    });
    expect(readFileSync(path)).toEqual(before);
  });
});
