import { memoryStore, type Store } from 'adjutant';
import { encrypted, localKeys } from 'adjutant/encryption';
import { sqlite } from 'adjutant/sqlite';
import { testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { openPostgres } from '../../../src/stores/postgres/store.ts';
import { newPool, newSchema, reasonToSkip } from '../../stores/postgres/server.ts';
import { fill, openDesk } from './desk.ts';

type TestClock = ReturnType<typeof testClock>;
const at = { tenant: 'default', app: 'desk' };

function openInNewSchema(clock: TestClock): Store {
  const schema = newSchema();
  const pool = newPool();
  const endPool = async (): Promise<void> => {
    await pool.end();
    await schema.drop();
  };
  const names = { description: schema.name, schema: schema.name };
  return openPostgres({ ...names, pool, endPool, fixedNow: clock.now });
}

const keys = localKeys({ keys: [{ id: 'k', secret: Buffer.alloc(32, 7).toString('base64') }] });
const stores: readonly (readonly [string, (clock: TestClock) => Store])[] = [
  ['memory', (clock) => memoryStore({ clock })],
  ['sqlite', (clock) => sqlite(':memory:', { clock })],
  ['encrypted in sqlite', (clock) => encrypted(sqlite(':memory:', { clock }), { keys })],
  ...(reasonToSkip === undefined ? [['postgres', openInNewSchema] as const] : []),
];

/** All rows that follow from ledgers. When a turn was last taken does not. */
async function projections(store: Store) {
  const ledgers = store.for(at);
  const turns = (await ledgers.turns()).map(({ takenAt: _, ...turn }) => turn);
  return {
    turns: turns.sort((left, right) => (left.session < right.session ? -1 : 1)),
    rows: await ledgers.rows({ kind: 'task', limit: 1_000 }),
    requests: await ledgers.requests({ limit: 1_000 }),
    sessions: await ledgers.list({ limit: 1_000 }),
  };
}

async function transport(store: Store) {
  const ledgers = store.for(at);
  const sessions = await ledgers.list({ limit: 1_000 });
  const inboxes = await Promise.all(sessions.map(({ id }) => ledgers.inbox(id)));
  return { inboxes, sends: await ledgers.sends(), due: await ledgers.due() };
}

async function loseAll(store: Store): Promise<void> {
  const ledgers = store.for(at);
  for (const { id: session } of await ledgers.list({ limit: 1_000 })) {
    const head = await ledgers.head(session);
    if (head === undefined) continue;
    const empty = { requests: [], listed: { kinds: ['task'], rows: [] }, turn: null };
    const summary = { status: 'active' } as const;
    await store.admin.replaceRows({ ...at, session }, head, { ...empty, summary });
  }
}

test.each(stores)('rows that were lost come back as they were, in %s', async (_name, open) => {
  const clock = testClock();
  const store = open(clock);
  const desk = openDesk(store, clock);
  await fill(desk, clock);
  const before = await projections(store);
  expect(desk.done).toEqual(['looked']);
  const carried = await transport(store);
  expect(await desk.app.sessions.rebuild({ dryRun: true })).toMatchObject({
    rebuilt: [],
    failed: [],
  });
  await loseAll(store);
  const lost = await projections(store);
  const found = await desk.app.sessions.rebuild({ dryRun: true });
  expect(found.rebuilt.length).toBeGreaterThan(10);
  expect(await projections(store)).toEqual(lost);
  expect(await desk.app.sessions.rebuild()).toEqual(found);
  expect(await projections(store)).toEqual(before);
  expect(await transport(store)).toEqual(carried);
  expect((await desk.app.sessions.rebuild()).rebuilt).toEqual([]);
  await desk.app.close();
});
