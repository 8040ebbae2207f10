import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { memoryStore, type Runtime, runtime, type Store } from 'adjutant';
import { type Channel, type Notice, notifications } from 'adjutant/notifications';
import { sqlite } from 'adjutant/sqlite';
import { testClock } from 'adjutant/testing';
import { event, every, trigger, triggers } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { openPostgres } from '../../../src/stores/postgres/store.ts';
import { desk, hourMs, noting, work } from '../../services/desk.ts';
import { newPool, newSchema, reasonToSkip } from '../../stores/postgres/server.ts';

type TestClock = ReturnType<typeof testClock>;

const at = { tenant: 'default', app: 'desk' };
const kinds = ['trigger', 'subscription', 'service'];
const start = Date.UTC(2026, 0, 5, 7, 30);

interface Place {
  readonly store: Store;
  readonly lose: () => Promise<unknown>;
  readonly remove: () => Promise<unknown>;
}

/** Loses all rows through the door of the store: only memory has no other one. */
async function loseAll(store: Store): Promise<void> {
  const ledgers = store.for(at);
  for (const { id: session } of await ledgers.list({ limit: 1_000 })) {
    const head = await ledgers.head(session);
    if (head === undefined) continue;
    await store.admin.replaceRows({ ...at, session }, head, {
      ...{ turn: null, listed: { kinds: [...kinds, 'task'], rows: [] } },
    });
  }
}

async function inMemory(clock: TestClock): Promise<Place> {
  const store = memoryStore({ clock });
  return { store, lose: () => loseAll(store), remove: async () => undefined };
}

async function inFile(clock: TestClock): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-rebuild-services-'));
  const path = join(folder, 'store.db');
  return {
    store: sqlite(path, { clock }),
    lose: async () => {
      const database = new DatabaseSync(path);
      database.exec('delete from turns; delete from listed_rows');
      database.close();
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function inSchema(clock: TestClock): Promise<Place> {
  const schema = newSchema();
  const pool = newPool();
  const endPool = async (): Promise<void> => {
    await pool.end();
    await schema.drop();
  };
  const names = { description: schema.name, schema: schema.name };
  return {
    store: openPostgres({ ...names, pool, endPool, fixedNow: clock.now }),
    lose: () =>
      schema.query(`delete from "${schema.name}".turns; delete from "${schema.name}".listed_rows`),
    remove: async () => undefined,
  };
}

const places: readonly (readonly [string, (clock: TestClock) => Promise<Place>])[] = [
  ['memory', inMemory],
  ['sqlite', inFile],
  ...(reasonToSkip === undefined ? [['postgres', inSchema] as const] : []),
];

/** An app with a trigger of each kind of code, and a channel that keeps what it is given. */
function openDesk(store: Store, clock: TestClock) {
  const sent: Notice[] = [];
  const { made, seen } = noting();
  const channel: Channel = {
    name: 'mail',
    idempotent: true,
    send: async (notice) => {
      sent.push(notice);
      return { channel: 'mail' };
    },
  };
  const app = runtime({
    ...{ app: 'desk', store, recover: 'manual', ports: { clock } },
    triggers: triggers([
      trigger({ name: 'hourly', on: every('1h'), start: made, requester: 'ann' }),
      trigger({ name: 'on-mail', on: event('mail.received'), start: made, overlap: 'queue' }),
      trigger({
        name: 'on-large',
        on: event('mail.large', (mail) => Number(mail.data) > 10),
        start: made,
      }),
    ]),
    notifications: notifications({ channels: [channel] }),
  });
  return { app, seen, sent };
}

async function rowsOf(store: Store) {
  const ledgers = store.for(at);
  return (await Promise.all(kinds.map((kind) => ledgers.rows({ kind, limit: 1_000 })))).flat();
}

/** Names of the turns of services, which are to be found by those who can work on them. */
async function turnsOf(store: Store) {
  const turns = await store.for(at).turns();
  return turns
    .filter(({ queue }) => queue === 'service:')
    .map(({ requester, runnable, session }) => `${session} ${runnable} ${requester}`)
    .sort();
}

async function transport(store: Store) {
  const ledgers = store.for(at);
  const sessions = await ledgers.list({ limit: 1_000 });
  const inboxes = await Promise.all(sessions.map(({ id }) => ledgers.inbox(id)));
  return { inboxes, sends: await ledgers.sends() };
}

async function fill(app: Runtime, clock: TestClock): Promise<void> {
  await work(app);
  await app.triggers.pause('hourly', { reason: 'A holiday.' });
  await app.triggers.resume('hourly');
  await app.triggers.create({ name: 'gone', on: event('gone.*'), start: 'note' });
  await app.triggers.delete('gone');
  await app.publish({ type: 'mail.received', data: 'first' });
  clock.advance(1_500);
  await app.notifications.send({ user: 'ann', title: 'One' });
  await work(app);
  // These wait: one in a ledger, the others in inboxes.
  await app.notifications.send({ user: 'ann', title: 'Two' });
  await work(app);
  clock.advance(1_500);
  await app.notifications.send({ user: 'bob', title: 'Three' });
  await app.publish({ type: 'mail.received', data: 'second' });
  await app.publish({ type: 'mail.large', data: 20 });
}

test.each(places)(
  'triggers, subscriptions and notices come back from ledgers, in %s',
  async (_, open) => {
    const clock = testClock(start);
    const place = await open(clock);
    const { store } = place;
    const { app, seen, sent } = openDesk(store, clock);
    await fill(app, clock);
    expect((await app.sessions.rebuild({ dryRun: true })).rebuilt).toEqual([]);
    const before = {
      ...{ rows: await rowsOf(store), turns: await turnsOf(store) },
      ...{ listed: await app.triggers.list(), transport: await transport(store) },
    };
    expect(before.listed).toHaveLength(3);
    await place.lose();
    expect([await app.triggers.list(), await turnsOf(store)]).toEqual([[], []]);
    const found = await app.sessions.rebuild({ dryRun: true });
    expect(found.failed).toEqual([]);
    expect(await rowsOf(store)).toEqual([]);
    expect(await app.sessions.rebuild()).toEqual(found);
    expect({
      ...{ rows: await rowsOf(store), turns: await turnsOf(store) },
      ...{ listed: await app.triggers.list(), transport: await transport(store) },
    }).toEqual(before);
    expect((await app.sessions.rebuild()).rebuilt).toEqual([]);
    expect([seen.length, sent.map(({ title }) => title)]).toEqual([1, ['One']]);
    await work(app);
    clock.advance(hourMs);
    await work(app);
    await app.publish({ type: 'mail.received', data: 'third' });
    await work(app);
    const causes = seen.map(({ about, kind }) => about?.['data'] ?? kind);
    expect(causes.sort()).toEqual(['first', 'schedule', 'second', 'third', 20].sort());
    expect(sent.map(({ title }) => title).sort()).toEqual(['One', 'Three', 'Two']);
    expect((await app.sessions.rebuild({ dryRun: true })).rebuilt).toEqual([]);
    await app.close();
    await place.remove();
  },
);

test('a service that has rolled comes back with its newest session', async () => {
  const { made, seen } = noting();
  const { app, clock, store } = desk({ runnables: [made], triggers: triggers() });
  const on = { start: 'note', overlap: 'skip', mostPerHour: 5_000 } as const;
  await app.triggers.create({ ...on, name: 'follower', on: event('mail.*') });
  // The topic rolls, too.
  for (let i = 0; i < 1_010; i++) await app.publish({ type: 'mail.received' });
  await work(app);
  const sessions = await store.for(at).list({ limit: 5_000 });
  expect(sessions.filter(({ id }) => /^service:trigger:.*~2$/.test(id))).toHaveLength(1);
  expect((await app.sessions.rebuild({ dryRun: true })).rebuilt).toEqual([]);
  const listed = await app.triggers.list();
  const newest = await store.for(at).rows({ kind: 'service' });
  expect(newest).toHaveLength(2);
  for (const { id: session } of sessions) {
    const head = await store.for(at).head(session);
    if (head !== undefined && session.startsWith('service:'))
      await store.admin.replaceRows({ ...at, session }, head, {
        ...{ turn: null, listed: { kinds, rows: [] } },
      });
  }
  expect(await rowsOf(store)).toEqual([]);
  expect((await app.sessions.rebuild()).failed).toEqual([]);
  expect(await app.triggers.list()).toEqual(listed);
  const found = await store.for(at).rows({ kind: 'service' });
  const bodies = (rows: typeof found) => new Map(rows.map(({ body, id }) => [id, body]));
  expect(bodies(found)).toEqual(bodies(newest));
  expect((await app.sessions.rebuild()).rebuilt).toEqual([]);
  const fired = seen.length;
  clock.advance(1_000);
  await app.publish({ type: 'mail.received', data: 'last' });
  await work(app);
  expect(seen.slice(fired).map(({ about }) => about?.['data'])).toEqual(['last']);
  await app.close();
});

test('a turn that would never wake, and a row that says something else, are found', async () => {
  const clock = testClock(start);
  const { store } = await inMemory(clock);
  const { app, seen } = openDesk(store, clock);
  await work(app);
  const ledgers = store.for(at);
  const [row] = await ledgers.rows({ kind: 'trigger', id: 'hourly' });
  const head = row && (await ledgers.head(row.session));
  if (row === undefined || head === undefined) throw new Error('There is no trigger.');
  const { session, ...own } = row;
  const turn = await ledgers.turn(session);
  if (turn === undefined) throw new Error('The trigger has no turn.');
  const { queue, requester, runnable, since } = turn;
  await store.admin.replaceRows({ ...at, session }, head, {
    turn: { queue, requester, runnable, since, rests: null },
    listed: { kinds: ['trigger'], rows: [{ ...own, status: 'paused' }] },
  });
  const { rebuilt } = await app.sessions.rebuild();
  expect(rebuilt).toMatchObject([
    {
      session,
      differences: [
        {
          row: 'trigger',
          id: 'hourly',
          stored: { status: 'paused' },
          rebuilt: { status: 'active' },
        },
        { row: 'turn', stored: { readyAt: null } },
      ],
    },
  ]);
  clock.advance(hourMs);
  await work(app);
  expect(seen.map(({ kind }) => kind)).toEqual(['schedule']);
  await app.close();
});

test('services of parts that an app does not have are left as they are', async () => {
  const clock = testClock(start);
  const { store } = await inMemory(clock);
  const { app } = openDesk(store, clock);
  await work(app);
  await loseAll(store);
  const other = runtime({ app: 'desk', store, recover: 'manual', ports: { clock } });
  expect(await other.sessions.rebuild()).toEqual({
    ...{ sessions: 0, rebuilt: [], held: [], failed: [] },
  });
  expect(await rowsOf(store)).toEqual([]);
  expect((await app.sessions.rebuild()).rebuilt).toHaveLength(3);
  await Promise.all([other.close(), app.close()]);
});
