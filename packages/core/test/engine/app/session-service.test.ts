import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  agent,
  type EventOf,
  memoryStore,
  type Runtime,
  runtime,
  type Store,
  step,
  tool,
} from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { eventually, scriptedModel, testClock } from 'adjutant/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

const stateSchema = {
  session: { mode: z.string() },
  user: { theme: z.string() },
  patient: { name: z.string() },
};
const say = step({ name: 'say', execute: (ctx) => ctx.respond('hello') });
const fail = step({ name: 'fail', execute: (ctx) => ctx.fail('no') });

let folder: string;
let file: string;
const opened: Runtime<typeof stateSchema>[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'adjutant-sessions-'));
  file = join(folder, 'store.db');
});

afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
  rmSync(folder, { recursive: true });
});

/** A runtime as another process would have it. */
function processOn(store: Store, clock = testClock()): Runtime<typeof stateSchema> {
  const app = runtime({
    app: 'clinic',
    store,
    stateSchema,
    runnables: [say, fail],
    ports: { clock },
  });
  opened.push(app);
  return app;
}

/** Two runtimes that know nothing of each other on one store. */
const pairs: Readonly<
  Record<string, () => readonly [Runtime<typeof stateSchema>, Runtime<typeof stateSchema>]>
> = {
  memory: () => {
    const store = memoryStore();
    // Closing the store twice is closing it once.
    return [processOn(store), processOn(store)];
  },
  sqlite: () => [processOn(sqlite(file)), processOn(sqlite(file))],
};

describe.each(Object.keys(pairs))('on %s', (kind) => {
  const pair = pairs[kind] as NonNullable<(typeof pairs)[string]>;

  test('a session that was made is found by other processes, with its shared scopes', async () => {
    const [first, second] = pair();
    const made = await first.sessions.create({ id: 's', userId: 'u', scopes: { patient: 'p' } });
    expect(made.status).toBe('active');
    const found = await second.sessions.get('s');
    found.state.user.theme = 'dark';
    found.state.mode = 'triage';
    await found.flush();
    await found.ledger.release();
    const again = await first.sessions.get('s');
    expect([again.state.user.theme, again.state.mode, { ...again.state.patient }]).toEqual([
      'dark',
      'triage',
      {},
    ]);
    expect((await first.sessions.list({ user: 'u' })).sessions.map(({ id }) => id)).toEqual(['s']);
  });

  test('an id is used once', async () => {
    const [first, second] = pair();
    const attempts = await Promise.allSettled([
      first.sessions.create({ id: 's' }),
      second.sessions.create({ id: 's' }),
      first.sessions.create({ id: 's' }),
    ]);
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const attempt of attempts)
      if (attempt.status === 'rejected')
        expect(attempt.reason).toMatchObject({ code: 'session_exists' });
    await expect(second.sessions.create({ id: 's' })).rejects.toMatchObject({
      code: 'session_exists',
    });
    expect((await first.sessions.create()).id).toMatch(/^session_/);
  });

  test('a session that is not there is said to be missing', async () => {
    const [app] = pair();
    await expect(app.sessions.get('nobody')).rejects.toMatchObject({
      code: 'session_not_found',
      data: { session: 'nobody', app: 'clinic' },
    });
    expect(await app.sessions.find('nobody')).toBeUndefined();
    await expect(app.sessions.delete('nobody')).rejects.toMatchObject({
      code: 'session_not_found',
    });
    await expect(app.sessions.erase('nobody')).rejects.toMatchObject({ code: 'session_not_found' });
  });

  test('sessions are listed by state, runnable and user, in pages', async () => {
    const [first, second] = pair();
    for (let i = 0; i < 5; i++)
      await first.sessions.create({ id: `s${i}`, userId: i % 2 === 0 ? 'even' : 'odd' });
    await second.run(say, { session: 's1', input: 'Hi' });
    await second.run(fail, { session: 's2', input: 'Ho' });
    const ids = async (query: Parameters<typeof first.sessions.list>[0]) =>
      (await first.sessions.list(query)).sessions.map(({ id }) => id).sort();
    expect(await ids({ status: 'completed' })).toEqual(['s1']);
    expect(await ids({ status: 'error' })).toEqual(['s2']);
    expect(await ids({ runnable: 'say' })).toEqual(['s1']);
    expect(await ids({ user: 'even' })).toEqual(['s0', 's2', 's4']);
    expect(await ids({ user: 'odd', status: 'active' })).toEqual(['s3']);
    expect(await ids({ id: 's3' })).toEqual(['s3']);
    expect(await ids({ id: 's3', user: 'even' })).toEqual([]);
    expect((await first.sessions.list({ id: 's1' })).sessions.map(({ id }) => id)).toEqual(['s1']);
    await expect(ids({ id: '' })).rejects.toMatchObject({ code: 'invalid_run' });
    for (const order of ['createdAt', 'updatedAt'] as const) {
      const pages: string[][] = [];
      let cursor: string | undefined;
      do {
        const page = await second.sessions.list({
          order,
          limit: 2,
          ...(cursor === undefined ? {} : { cursor }),
        });
        pages.push(page.sessions.map(({ id }) => id));
        ({ cursor } = page);
      } while (cursor !== undefined);
      expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
      expect(pages.flat().sort()).toEqual(['s0', 's1', 's2', 's3', 's4']);
    }
  });

  test('a cursor that is none, or of another list, is refused', async () => {
    const [app] = pair();
    for (const id of ['a', 'b']) await app.sessions.create({ id });
    const { cursor = '' } = await app.sessions.list({ limit: 1, order: 'createdAt' });
    await expect(app.sessions.list({ cursor: 'page 2' })).rejects.toMatchObject({
      code: 'invalid_cursor',
      data: { cursor: 'page 2' },
    });
    await expect(app.sessions.list({ cursor })).rejects.toThrow('`createdAt`');
    await expect(app.sessions.list({ limit: 0 })).rejects.toMatchObject({ code: 'invalid_run' });
    await expect(app.sessions.list({ sort: 'id' } as never)).rejects.toThrow(
      'there is no option `sort`',
    );
  });

  test(
    'a deleted session is gone, its id is free, and nothing can be written to ' + 'it any more',
    async () => {
      const [first, second] = pair();
      const mine = await first.sessions.create({ id: 's', userId: 'u' });
      mine.state.user.theme = 'dark';
      await mine.flush();
      await mine.ledger.release();
      const theirs = await second.sessions.get('s');
      await first.sessions.delete('s');
      expect(await second.sessions.find('s')).toBeUndefined();
      expect((await second.sessions.list()).sessions).toEqual([]);
      expect(() => mine.addMessage('still there?')).toThrow(
        expect.objectContaining({ code: 'session_deleted' }),
      );
      theirs.addMessage('still there?');
      await expect(theirs.flush()).rejects.toMatchObject({
        code: 'session_deleted',
        data: { session: 's' },
      });
      expect(await first.sessions.find('s')).toBeUndefined();
      const next = await first.sessions.create({ id: 's', userId: 'u' });
      expect(next.events.filter(({ type }) => type === 'user')).toEqual([]);
      // Shared scopes belong to nobody's session.
      expect(next.state.user.theme).toBe('dark');
    },
  );

  test('a session that another process deletes while it is written says so', async () => {
    const [first, second] = pair();
    const mine = await first.sessions.create({ id: 's' });
    mine.addMessage('one');
    await mine.flush();
    await second.sessions.delete('s');
    mine.addMessage('two');
    await expect(mine.flush()).rejects.toMatchObject({ code: 'session_deleted' });
    expect(await second.sessions.find('s')).toBeUndefined();
  });

  test.each(['this process', 'another one'])(
    'a run that is under way on a session that %s deletes stops and records nothing more',
    async (who) => {
      const [first, second] = pair();
      await first.sessions.create({ id: 's' });
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const { promise: goOn, resolve: letGo } = Promise.withResolvers<void>();
      const wait = tool({
        name: 'wait',
        description: 'Waits',
        schema: z.object({}),
        execute: async () => {
          begin();
          await goOn;
          return 'waited';
        },
      });
      const model = scriptedModel([{ toolCalls: [{ name: 'wait', args: {} }] }, { text: 'done' }]);
      const run = first.run(agent({ name: 'waiter', model, tools: [wait] }), {
        session: 's',
        input: 'Go',
      });
      const failed = expect(run).rejects.toMatchObject({ code: 'session_deleted' });
      await begun;
      await (who === 'this process' ? first : second).sessions.delete('s');
      letGo();
      await failed;
      expect(await second.sessions.find('s')).toBeUndefined();
    },
  );

  test(
    'a fork keeps what it shares when its origin is deleted, and goes with it when that is ' +
      'erased',
    async () => {
      const [first, second] = pair();
      for (const id of ['a', 'b']) {
        await first.run(say, { session: id, input: 'x'.repeat(100_000) });
        await first.sessions.fork(id, { id: `${id}-fork` });
        const fork = await first.sessions.get(`${id}-fork`);
        fork.addMessage('more');
        await fork.flush();
        await fork.ledger.release();
      }
      await first.sessions.delete('a');
      const kept = await second.sessions.get('a-fork');
      expect(kept.events.filter(({ type }) => type === 'user')).toHaveLength(2);
      expect(
        kept.ledger.whole(kept.events.find((event) => event.type === 'user') as EventOf<'user'>)
          .text,
      ).toHaveLength(100_000);
      await first.sessions.erase('b');
      expect(await second.sessions.find('b-fork')).toBeUndefined();
      expect((await first.sessions.list()).sessions.map(({ id }) => id)).toEqual(['a-fork']);
    },
  );

  test('a scope that was bound later is bound whenever the session is opened', async () => {
    const [first, second] = pair();
    const mine = await first.sessions.create({ id: 's' });
    await first.sessions.bindSessionScope(mine, 'patient', 'p');
    await first.sessions.bindSessionScope(mine, 'patient', 'p');
    mine.state.patient.name = 'Ada';
    await mine.flush();
    await mine.ledger.release();
    const theirs = await second.sessions.get('s');
    expect(theirs.state.patient.name).toBe('Ada');
    await expect(second.sessions.bindSessionScope(theirs, 'patient', 'q')).rejects.toMatchObject({
      code: 'invalid_state',
    });
    await second.sessions.bindSessionScope(theirs, 'user', 'u');
    await theirs.ledger.release();
    expect((await first.sessions.list({ user: 'u' })).sessions.map(({ id }) => id)).toEqual(['s']);
    await expect(second.sessions.bindSessionScope(theirs, 'ward', '')).rejects.toMatchObject({
      code: 'invalid_run',
    });
  });

  test(
    'a run that touched no shared state goes on in another process with the scopes of its ' +
      'session',
    async () => {
      const [first, second] = pair();
      const mine = await first.sessions.open({ id: 's', userId: 'u' });
      await first.run(say, { session: mine, input: 'Hi' });
      expect({ ...(await second.sessions.get('s')).state.user }).toEqual({});
    },
  );
});

test('deleting leaves no row behind, and erasing neither of a fork', async () => {
  const [app] = (pairs['sqlite'] as NonNullable<(typeof pairs)[string]>)();
  await app.run(say, { session: 's', input: 'x'.repeat(100_000) });
  const reader = new DatabaseSync(file, { readOnly: true });
  const count = (): unknown => {
    const tables = [
      'ledgers',
      'events',
      'inbox',
      'posted',
      'requests',
      'snapshots',
      'blob_references',
    ];
    return Object.fromEntries(
      tables.map((table) => [
        table,
        reader.prepare(`select count(*) as n from ${table}`).get()?.['n'],
      ]),
    );
  };
  const empty = {
    ledgers: 0,
    events: 0,
    inbox: 0,
    posted: 0,
    requests: 0,
    snapshots: 0,
    blob_references: 0,
  };
  expect(count()).not.toEqual(empty);
  await app.sessions.fork('s', { id: 'fork' });
  await app.sessions.delete('s');
  expect((await app.sessions.get('fork')).events.length).toBeGreaterThan(3);
  await app.sessions.delete('fork');
  await eventually(() => JSON.stringify(count()) === JSON.stringify(empty), {
    what: 'an empty file',
  });
  await app.run(say, { session: 't', input: 'Hi' });
  await app.sessions.fork('t', { id: 'fork' });
  await app.sessions.erase('t');
  await eventually(() => JSON.stringify(count()) === JSON.stringify(empty), {
    what: 'an empty file',
  });
  reader.close();
});
