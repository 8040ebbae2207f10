import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { LedgerStore, Store } from '../../../src/ledger/port.ts';
import { startSqliteWorker, WorkerConnection } from '../../../src/stores/sqlite/connection.ts';
import { sqlite } from '../../../src/stores/sqlite/index.ts';
import {
  codeOf,
  eventsAfter,
  inboxItem,
  pendingRequest,
  readAll,
  readTexts,
  Writer,
} from '../../../src/testing/contracts/store/harness.ts';

const scope = { tenant: 'acme', app: 'shop' };
let directory: string;
let path: string;
let store: Store;
let ledgers: LedgerStore;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'adjutant-deletion-'));
  path = join(directory, 'store.db');
  store = sqlite(path);
  ledgers = store.for(scope);
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

/** The tables that hold rows, with how many. */
function rowsInFile(): Record<string, number> {
  const database = new DatabaseSync(path);
  const tables = [
    'ledgers',
    'events',
    'inbox',
    'posted',
    'requests',
    'snapshots',
    'blob_references',
    'blobs',
  ];
  const counts = tables.map(
    (table) =>
      [
        table,
        Number(database.prepare(`select count(*) as rows from ${table}`).get()?.['rows']),
      ] as const,
  );
  database.close();
  return Object.fromEntries(counts.filter(([, rows]) => rows > 0));
}

/** A session with something in every table. */
async function fill(session: string, events: number): Promise<void> {
  const writer = await Writer.claim(ledgers, session);
  const texts = Array.from({ length: events }, (_, i) => `n${i}`);
  await writer.write(texts, {
    blobs: [await ledgers.putBlob(Uint8Array.of(1, 2))],
    requests: [pendingRequest(session, `${session} q`)],
  });
  for (let i = 0; i < 3; i++) await ledgers.post(session, inboxItem(`k${i}`));
  await ledgers.putSnapshot(session, { key: 'fold', seq: events, value: 'x' });
}

test('a deleted session leaves nothing in the file', async () => {
  await fill('s', 1_500);
  await ledgers.delete('s');
  expect(rowsInFile()).toEqual({});
});

test('what forks share stays, up to the highest of them, until the last is gone', async () => {
  await fill('s', 2_000);
  await ledgers.fork('s', 700, 'f');
  await (await Writer.claim(ledgers, 'f')).write(['x']);
  await ledgers.fork('f', 701, 'g');
  await ledgers.fork('s', 900, 'h');
  await ledgers.delete('s');
  expect(rowsInFile()).toMatchObject({ ledgers: 4, events: 901, blob_references: 1 });
  await ledgers.delete('h');
  expect(rowsInFile()).toMatchObject({ ledgers: 3, events: 701, blob_references: 1 });
  await ledgers.delete('f');
  expect(rowsInFile()).toMatchObject({ ledgers: 3, events: 701 });
  expect(await readTexts(ledgers, 'g', { after: 698 })).toEqual(['n698', 'n699', 'x']);
  await ledgers.delete('g');
  expect(rowsInFile()).toEqual({});
});

test('the bytes of what was deleted are not left in the file', async () => {
  const request = { agent: 'support', summary: 'a secret request', options: [] };
  await (await Writer.claim(ledgers, 's')).write(
    Array.from({ length: 300 }, (_, i) => `a secret ${i} ${'x'.repeat(3_000)}`),
    {
      requests: [pendingRequest('s', 'q', { request })],
      summary: { status: 'active', title: 'a secret title' },
    },
  );
  await (await Writer.claim(ledgers, 't')).write(['no secret']);
  await ledgers.delete('s');
  await store.close();
  const bytes = readFileSync(path).toString('latin1');
  expect(bytes).toContain('no secret');
  expect(bytes).not.toContain('a secret');
});

test('a deletion that was cut off is finished by the next deletion or sweep', async () => {
  for (const finish of [() => store.admin.sweepBlobs(), () => ledgers.delete('other')]) {
    await fill('s', 1_200);
    await fill('other', 1);
    const connection = new WorkerConnection(
      { path, synchronous: 'full', busyTimeoutMs: 5_000, isSystemClock: true },
      startSqliteWorker,
    );
    await connection.request('delete', { ...scope, session: 's', erase: false, now: 0 });
    await connection.request('purge', null);
    await connection.close();
    expect(await codeOf(readAll(ledgers, 's'))).toBe('session_not_found');
    expect(rowsInFile()).toMatchObject({ ledgers: 2, events: 689 });
    expect(await ledgers.due()).toEqual([]);
    await finish();
    if (await ledgers.head('other')) await ledgers.delete('other');
    expect(rowsInFile()).toEqual({});
  }
});

test(
  'a session that another process deletes and makes anew keeps its paths apart from the old ' +
    'one',
  async () => {
    const other = sqlite(path);
    const started = (seq: number) =>
      eventsAfter(seq, [
        { type: 'invocation_resume', by: 'runtime', invocationId: 'run1/support' },
      ]);
    const old = await Writer.claim(ledgers, 's');
    await ledgers.append('s', old.head, { events: started(0) });
    await other.for(scope).delete('s');
    await (await Writer.claim(other.for(scope), 's', 'other')).write(['x']);
    const next = await Writer.claim(ledgers, 's');
    await ledgers.append('s', next.head, { events: started(1) });
    expect((await readAll(ledgers, 's')).map(({ invocationId }) => invocationId)).toEqual([
      undefined,
      'run1/support',
    ]);
    await other.close();
  },
);

test(
  'another process that deletes a session fences its writer and ends those ' + 'who follow',
  async () => {
    const writer = await Writer.claim(ledgers, 's');
    await writer.write(['a']);
    const follower = ledgers.follow('s', 0, new AbortController().signal)[Symbol.asyncIterator]();
    expect((await follower.next()).value).toMatchObject({ seq: 1 });
    const next = codeOf(follower.next());
    const other = sqlite(path, { clock: systemClock });
    await other.for(scope).delete('s');
    expect(await next).toBe('session_not_found');
    expect(await codeOf(writer.write(['b']))).toBe('ledger_conflict');
    await other.close();
  },
);
