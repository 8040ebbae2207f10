import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { memoryStore, type Runtime, runtime, type Store, step } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import { expect, test } from 'vitest';
import { newPool, newSchema, reasonToSkip } from '../../stores/postgres/server.ts';

const scope = { tenant: 'default', app: 'desk' };
const quick = step({ name: 'quick', execute: async (ctx) => ctx.complete(ctx.message ?? '') });

function desk(store: Store, recover: 'auto' | 'manual' = 'manual'): Runtime {
  return runtime({ app: 'desk', store, runnables: [quick], recover, work: { slots: 2 } });
}

async function inMemory(): Promise<Pick<Place, 'open' | 'remove'>> {
  return { open: () => memoryStore(), remove: async () => undefined };
}

const allStores: readonly (readonly [string, () => Promise<Pick<Place, 'open' | 'remove'>>])[] = [
  ['memory', inMemory],
  ['sqlite', inFile],
  ...(reasonToSkip === undefined ? [['postgres', inSchema] as const] : []),
];

test.each(allStores)('rebuild_keeps_undrained_reprioritisation, in %s', async (_, make) => {
  const place = await make();
  const store = place.open();
  const app = desk(store);
  const task = await app.submit(quick, 'x', { priority: 'normal' });
  await app.tasks.reprioritize(task.id, 'background');
  await app.tasks.reprioritize(task.id, 'low', { by: 'user:ann' });
  const before = await store.for(scope).turn(task.session);
  expect(before).toMatchObject({ level: 3 });
  await loseTurn(store, task.session);
  await app.sessions.rebuild();
  expect(await store.for(scope).turn(task.session)).toMatchObject({ level: 3, run: task.id });
  // The change is still on its way to the ledger.
  expect(await store.for(scope).inbox(task.session)).toHaveLength(3);
  await app.close();
  await place.remove();
});

async function loseTurn(store: Store, session: string): Promise<void> {
  const head = await store.for(scope).head(session);
  if (head === undefined) throw new Error('The session is gone.');
  await store.admin.replaceRows({ ...scope, session }, head, {
    ...{ turn: null, listed: { kinds: ['task'], rows: [] } },
  });
}

test.each(allStores)('rebuild_sends_nothing_again, in %s', async (_, make) => {
  const place = await make();
  const store = place.open();
  const ledgers = store.for(scope);
  const app = desk(store);
  const task = await app.submit(quick, 'x');
  await Promise.all(await app.recovery.resumeStopped());
  const claim = await ledgers.claim(task.session, 'writer', { ttlMs: 1_000 });
  const item = { lane: 'input', by: 'runtime', at: 1, type: 'wake', data: {} } as const;
  const sends = ['mail', 'letter'].map((key) => ({
    to: 'box',
    item: { ...item, key },
    open: true,
  }));
  await ledgers.append(task.session, claim, { events: [], sends });
  const [first] = await ledgers.sends();
  if (first === undefined) throw new Error('There is no send.');
  await ledgers.post('box', first.item, { open: true });
  await ledgers.sent(task.session, [first.number]);
  await ledgers.release(claim);
  const carried = async () => [await ledgers.sends(), await ledgers.inbox('box')];
  const before = await carried();
  await loseTurn(store, task.session);
  expect((await app.sessions.rebuild()).rebuilt).toMatchObject([{ session: task.session }]);
  expect(await carried()).toEqual(before);
  // The task has ended, and is not carried out again.
  expect(await task.info()).toMatchObject({ state: 'completed', result: 'x' });
  expect(await ledgers.turn(task.session)).toBe(undefined);
  await app.close();
  await place.remove();
});

test('a session that somebody works on is left to them', async () => {
  const store = memoryStore();
  const app = desk(store);
  const task = await app.submit(quick, 'x');
  await loseTurn(store, task.session);
  const claim = await store.for(scope).claim(task.session, 'worker', { ttlMs: 60_000 });
  expect(await app.sessions.rebuild()).toEqual({
    ...{ sessions: 1, rebuilt: [], held: [task.session], failed: [] },
  });
  expect(await store.for(scope).turn(task.session)).toBe(undefined);
  await store.for(scope).release(claim);
  expect((await app.sessions.rebuild()).held).toEqual([]);
  expect(await task.info()).toMatchObject({ state: 'queued' });
  await app.close();
});

test('what does not follow from a ledger stays', async () => {
  const store = memoryStore();
  const app = desk(store);
  const ledgers = store.for(scope);
  const item = { key: 'k', lane: 'input', by: 'runtime', at: 1, type: 'wake', data: {} } as const;
  const row = { kind: 'of a plug-in', id: '1', status: 'open', at: 1, body: {} };
  await ledgers.post('service', item, { open: true, turn: { to: 'resting' }, rows: [row] });
  const turn = await ledgers.turn('service');
  expect((await app.sessions.rebuild()).rebuilt).toEqual([]);
  expect(await ledgers.turn('service')).toEqual(turn);
  expect(await ledgers.rows({ kind: 'of a plug-in' })).toHaveLength(1);
  await app.close();
});

test('options are checked, and a session that is named must exist', async () => {
  const app = desk(memoryStore());
  await expect(app.sessions.rebuild({ session: 'none' })).rejects.toMatchObject({
    code: 'session_not_found',
  });
  await expect(app.sessions.rebuild({ session: '' })).rejects.toMatchObject({
    code: 'invalid_run',
  });
  await expect(app.sessions.rebuild({ dryRun: 1 as never })).rejects.toMatchObject({
    code: 'invalid_run',
  });
  await expect(app.sessions.rebuild({ session: 'service:x' })).rejects.toMatchObject({
    code: 'reserved_session',
  });
  const other = app.tenants.get('other');
  expect(await other.sessions.rebuild()).toMatchObject({ sessions: 0 });
  await app.close();
});

interface Place {
  readonly open: () => Store;
  /** Changes tables behind the store: `{s}` stands before their names. */
  readonly execute: (statement: string) => Promise<unknown>;
  readonly remove: () => Promise<unknown>;
}

async function inFile(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-rebuild-'));
  const path = join(folder, 'store.db');
  return {
    open: () => sqlite(path),
    execute: async (statement) => {
      const database = new DatabaseSync(path);
      database.exec(statement.replaceAll('{s}', ''));
      database.close();
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function inSchema(): Promise<Place> {
  const schema = newSchema();
  const pool = newPool();
  return {
    open: () => postgres({ pool, schema: schema.name }),
    execute: (statement) => schema.query(statement.replaceAll('{s}', `"${schema.name}".`)),
    remove: async () => {
      await pool.end();
      await schema.drop();
    },
  };
}

const places: readonly (readonly [string, () => Promise<Place>])[] = [
  ['sqlite', inFile],
  ...(reasonToSkip === undefined ? [['postgres', inSchema] as const] : []),
];

test.each(places)(
  'tables that were emptied behind the store are filled again, in %s',
  async (_, make) => {
    const place = await make();
    const app = desk(place.open());
    const common = { concurrencyKey: 'desk', requester: 'ann' };
    const tasks = await Promise.all(
      [1, 2, 3].map((i) => app.submit(quick, `${i}`, { ...common, key: `${i}` })),
    );
    const list = async () => (await app.tasks.list()).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const listed = await list();
    await place.execute(
      'delete from {s}turns; delete from {s}listed_rows; delete from {s}requests',
    );
    expect(await app.tasks.list()).toEqual([]);
    expect((await app.sessions.rebuild()).rebuilt).toHaveLength(3);
    expect(await list()).toEqual(listed);
    expect((await app.sessions.rebuild()).rebuilt).toEqual([]);
    const worker = desk(place.open(), 'auto');
    const ends = await Promise.all(tasks.map((task) => task.wait()));
    expect(ends.map(({ output }) => output)).toEqual(['1', '2', '3']);
    await Promise.all([worker.close(), app.close()]);
    await place.remove();
  },
);

test.each(places)(
  'a ledger that is damaged is reported, and others go on, in %s',
  async (_, make) => {
    const place = await make();
    const app = desk(place.open());
    await app.run(quick, { session: 'damaged', input: 'x' });
    const task = await app.submit(quick, 'x');
    const run = app.store.for(scope);
    const damaged = await run.birth('damaged');
    await place.execute(`update {s}events set body = 'no event' where ledger = ${damaged}`);
    await place.execute('delete from {s}turns; delete from {s}listed_rows');
    const other = desk(place.open());
    expect(await other.sessions.rebuild()).toMatchObject({
      rebuilt: [{ session: task.session }],
      failed: [{ session: 'damaged', error: { code: 'ledger_unreadable' } }],
    });
    expect(await other.sessions.rebuild({ session: 'damaged' })).toMatchObject({
      failed: [{ session: 'damaged' }],
    });
    expect(await task.info()).toMatchObject({ state: 'queued' });
    await Promise.all([other.close(), app.close()]);
    await place.remove();
  },
);

test('rows are rebuilt while workers go on, and each task ends once', async () => {
  const store = memoryStore();
  const done: string[] = [];
  const work = step({
    name: 'work',
    execute: async (ctx) => {
      await new Promise(setImmediate);
      done.push(ctx.message ?? '');
      return ctx.complete('done');
    },
  });
  const app = runtime({ app: 'desk', store, runnables: [work], work: { slots: 3 } });
  const names = Array.from({ length: 40 }, (_, i) => `${i}`);
  const tasks = await Promise.all(
    names.map((name, i) => app.submit(work, name, i % 3 === 0 ? { concurrencyKey: 'k' } : {})),
  );
  let isOver = false;
  const ends = Promise.all(tasks.map((task) => task.wait())).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const { failed, rebuilt } = await app.sessions.rebuild();
    expect([failed, rebuilt]).toEqual([[], []]);
    await new Promise(setImmediate);
  }
  expect((await ends).every(({ status }) => status === 'completed')).toBe(true);
  expect([...done].sort()).toEqual([...names].sort());
  expect(await app.sessions.rebuild()).toMatchObject({ rebuilt: [], held: [], sessions: 40 });
  await app.close();
});
