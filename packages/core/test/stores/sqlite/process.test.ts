import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { startSqliteWorker, WorkerConnection } from '../../../src/stores/sqlite/connection.ts';
import { sqlite } from '../../../src/stores/sqlite/index.ts';
import { SqliteStore } from '../../../src/stores/sqlite/store.ts';
import {
  codeOf,
  errorOf,
  notes,
  readTexts,
  ttl,
  Writer,
} from '../../../src/testing/contracts/store/harness.ts';

const scope = { tenant: 'acme', app: 'shop' };
let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'adjutant-process-'));
  path = join(directory, 'store.db');
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** Runs a script in another Node process, with `store` and `ledgers` of the same file at hand. */
function inOtherProcess(script: string): ChildProcess {
  const index = new URL('../../../src/stores/sqlite/index.ts', import.meta.url).href;
  const head = `
    import { sqlite } from ${JSON.stringify(index)};
    const store = sqlite(${JSON.stringify(path)});
    const ledgers = store.for(${JSON.stringify(scope)});
    const note = (seq, text) => ({ v: 1, seq, id: process.pid + '.' + seq, at: 1, type: 'user', by: 'user', text });`;
  return spawn(process.execPath, ['--input-type=module', '-e', `${head}\n${script}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function outputOf(child: ChildProcess): Promise<string> {
  let text = '';
  child.stdout?.on('data', (chunk) => (text += chunk));
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  return text.trim();
}

/** A store whose worker threads the test can end. */
function storeWithWorkers(): { store: SqliteStore; workers: Worker[] } {
  const workers: Worker[] = [];
  const connection = new WorkerConnection(
    { path, synchronous: 'full', busyTimeoutMs: 5_000, isSystemClock: true },
    (settings) => {
      const worker = startSqliteWorker(settings);
      workers.push(worker);
      return worker;
    },
  );
  return { store: new SqliteStore(path, connection, systemClock), workers };
}

describe('a worker thread that ends', () => {
  test('leaves open requests undetermined, and the next request starts another', async () => {
    const { store, workers } = storeWithWorkers();
    const ledgers = store.for(scope);
    const writer = await Writer.claim(ledgers, 's');
    await writer.write(['before']);
    const batch = { events: notes(1, ['open']) };
    const open = errorOf(ledgers.append('s', { seq: 1, epoch: 1 }, batch));
    await workers[0]?.terminate();
    expect(await open).toMatchObject({
      code: 'store_unavailable',
      data: { store: path, undetermined: true },
    });
    expect((await ledgers.append('s', { seq: 1, epoch: 1 }, batch)).seq).toBe(2);
    expect(await readTexts(ledgers, 's')).toEqual(['before', 'open']);
    expect(workers).toHaveLength(2);
    await store.close();
  });

  test('while nothing is open goes unnoticed', async () => {
    const { store, workers } = storeWithWorkers();
    const writer = await Writer.claim(store.for(scope), 's');
    await workers[0]?.terminate();
    expect((await writer.write(['after'])).seq).toBe(1);
    await store.close();
  });
});

describe('a damaged row', () => {
  const damages = {
    'text that is no JSON':
      'update events set body = substr(body, 1, 9) where seq = 1500 and ledger = 1',
    'JSON that is no event': 'update events set body = \'"x","y"\' where seq = 1500 and ledger = 1',
    'a row that is missing': 'delete from events where seq = 1500 and ledger = 1',
    'text that looks like two rows':
      'update events set body = \'"x",2,"a"],[1501,1,1,0,0,"y",2,"b"\' where seq = 1500 ' +
      'and ledger = 1',
    'an unknown type': 'update events set type = 77 where seq = 1500 and ledger = 1',
  };

  test.each(Object.entries(damages))(
    '%s makes its session unreadable, names the event, and leaves other sessions alone',
    async (_, damage) => {
      const store = sqlite(path);
      const ledgers = store.for(scope);
      await (await Writer.claim(ledgers, 'damaged')).write(
        Array.from({ length: 2_000 }, (_, i) => `${i}`),
      );
      await (await Writer.claim(ledgers, 'whole')).write(['a', 'b']);
      const database = new DatabaseSync(path);
      expect(database.prepare(damage).run().changes).toBe(1);
      database.close();
      const error = await errorOf(readTexts(ledgers, 'damaged'));
      expect(error).toMatchObject({
        code: 'ledger_unreadable',
        data: { session: 'damaged', seq: 1_500 },
      });
      expect(await readTexts(ledgers, 'damaged', { upTo: 1_499 })).toHaveLength(1_499);
      expect(await readTexts(ledgers, 'whole')).toEqual(['a', 'b']);
      await store.close();
    },
  );
});

describe('several processes on one file', () => {
  test('write at the same time, also when both make the file', async () => {
    const script = (session: string): string => `
      await ledgers.claim('${session}', '${session}', { ttlMs: 1e6 });
      for (let seq = 0; seq < 100; seq++) await ledgers.append('${session}', { seq, epoch: 1 }, { events: [note(seq + 1, 'n' + seq)] });
      await store.close();`;
    await Promise.all(['a', 'b', 'c'].map((session) => outputOf(inOtherProcess(script(session)))));
    const store = sqlite(path);
    for (const session of ['a', 'b', 'c']) {
      expect(await readTexts(store.for(scope), session)).toEqual(
        Array.from({ length: 100 }, (_, i) => `n${i}`),
      );
    }
    await store.close();
  });

  test('follow each other', async () => {
    const store = sqlite(path);
    const ledgers = store.for(scope);
    const { claim } = await Writer.claim(ledgers, 's');
    await ledgers.release(claim);
    const child = inOtherProcess(`
      const { epoch } = await ledgers.claim('s', 'child', { ttlMs: 1e6 });
      for (let seq = 0; seq < 5; seq++) await ledgers.append('s', { seq, epoch }, { events: [note(seq + 1, 'n' + seq)] });`);
    const done = outputOf(child);
    const texts: unknown[] = [];
    for await (const event of ledgers.follow('s', 0, new AbortController().signal)) {
      texts.push(event.type === 'user' && event.text);
      if (texts.length === 5) break;
    }
    expect(texts).toEqual(['n0', 'n1', 'n2', 'n3', 'n4']);
    await done;
    await store.close();
  });

  test(
    'take over from one that was killed, at once and with all that it had ' + 'confirmed',
    async () => {
      const child = inOtherProcess(`
      import { processOwner } from ${JSON.stringify(new URL('../../../src/stores/owner.ts', import.meta.url).href)};
      await ledgers.claim('s', processOwner({ next: () => 'x' }), { ttlMs: 1e9 });
      for (let seq = 0; ; seq++) {
        await ledgers.append('s', { seq, epoch: 1 }, { events: [note(seq + 1, 'n' + seq)] });
        console.log(seq + 1);
      }`);
      let confirmed = '';
      child.stdout?.on('data', (chunk) => (confirmed += chunk));
      await once(child.stdout as NodeJS.ReadableStream, 'data');
      const store = sqlite(path);
      const ledgers = store.for(scope);
      expect(await codeOf(ledgers.claim('s', 'b', { ttlMs: ttl }))).toBe('session_busy');
      child.kill('SIGKILL');
      await once(child, 'close');
      const last = Number(confirmed.trim().split('\n').at(-1));
      const claim = await ledgers.claim('s', 'b', { ttlMs: ttl });
      expect(claim.epoch).toBe(2);
      expect(claim.seq).toBeGreaterThanOrEqual(last);
      expect(await readTexts(ledgers, 's')).toHaveLength(claim.seq);
      await store.close();
    },
  );

  test('end by themselves when nothing is open, without closing the store', async () => {
    const child = inOtherProcess(
      "await ledgers.claim('s', 'a', { ttlMs: 1000 }); console.log((await ledgers.head('s')).epoch);",
    );
    expect(await outputOf(child)).toBe('1');
  });

  test('stay alive until what they sent is confirmed', async () => {
    const child = inOtherProcess(
      "void ledgers.claim('s', 'a', { ttlMs: 1000 }).then((claim) => console.log(claim.epoch));",
    );
    expect(await outputOf(child)).toBe('1');
  });
});

describe('a group of requests', () => {
  test('is not harmed by one that is refused or fails', async () => {
    const store = sqlite(path);
    const ledgers = store.for(scope);
    for (const session of ['a', 'b', 'c']) await ledgers.claim(session, 'w', { ttlMs: ttl });
    const odd = notes(0, ['x']).map((event) => ({ ...event, at: Number.NaN }));
    const codes = await Promise.all(
      [
        ledgers.append('a', { seq: 0, epoch: 1 }, { events: notes(0, ['a']) }),
        ledgers.append('b', { seq: 0, epoch: 1 }, { events: odd }),
        ledgers.append('b', { seq: 7, epoch: 1 }, { events: notes(7, ['b']) }),
        ledgers.append('c', { seq: 0, epoch: 1 }, { events: notes(0, ['c']) }),
      ].map(codeOf),
    );
    expect(codes).toEqual(['resolved', 'store_unavailable', 'ledger_conflict', 'resolved']);
    expect(await readTexts(ledgers, 'a')).toEqual(['a']);
    expect(await readTexts(ledgers, 'b')).toEqual([]);
    expect(await readTexts(ledgers, 'c')).toEqual(['c']);
    await store.close();
  });
});

test('nothing is opened before the first use', async () => {
  const { store, workers } = storeWithWorkers();
  store.for(scope);
  expect(workers).toEqual([]);
  await store.close();
  expect(workers).toEqual([]);
});

test(':memory: keeps everything until the store is closed', async () => {
  const store = sqlite(':memory:');
  const writer = await Writer.claim(store.for(scope), 's');
  await writer.write(['a']);
  expect(await readTexts(store.for(scope), 's')).toEqual(['a']);
  await store.close();
});
