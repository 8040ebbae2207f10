import {
  type Event,
  isAdjutantError,
  memoryStore,
  type Runtime,
  runtime,
  type Store,
  type StoredEvent,
  session,
  step,
} from 'adjutant';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type DatabasePlace,
  databasePlaces,
  type StorePlace,
  storePlaces,
} from '../store-places.ts';

const app = 'raw';
const work = step({ name: 'work', execute: (ctx) => ctx.complete('done') });

function open(store: Store): Runtime {
  return runtime({ app, store, runnables: [work], recover: 'manual' });
}

async function all(events: AsyncIterable<StoredEvent>): Promise<StoredEvent[]> {
  const list: StoredEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}

/** A message as a version of Adjutant to come might write it. */
function newerMessage(seq: number): Event {
  return {
    v: 2,
    seq,
    id: `e${seq}`,
    at: 1_000 + seq,
    type: 'user',
    by: 'user',
    text: 'hello',
    mood: 'cheerful',
  } as Event;
}

function message(seq: number): Event {
  return {
    v: 1,
    seq,
    id: `e${seq}`,
    at: 1_000 + seq,
    type: 'user',
    by: 'user',
    text: `message ${seq}`,
  };
}

async function write(store: Store, id: string, events: readonly Event[]): Promise<void> {
  const ledgers = store.for({ tenant: 'default', app });
  const claim = await ledgers.claim(id, 'writer', { ttlMs: 1_000 });
  await ledgers.append(id, { seq: 0, epoch: claim.epoch }, { events });
  await ledgers.release(claim);
}

/**
 * Everything that would have to open the session refuses it, names the event, and changes nothing.
 */
async function expectRefused(store: Store, id: string, seq: number, last: number): Promise<void> {
  const reader = open(store);
  const named = { code: 'ledger_unreadable', data: { session: id, seq } };
  await expect(reader.sessions.open({ id })).rejects.toMatchObject(named);
  await expect(reader.run(work, { session: id, input: 'Go' })).rejects.toMatchObject(named);
  await expect(reader.resume(id)).rejects.toMatchObject(named);
  await expect(reader.sessions.stateAt(id, last)).rejects.toMatchObject(named);
  expect(await store.for({ tenant: 'default', app }).head(id)).toMatchObject({ seq: last });
  expect(await reader.sessions.stateAt(id, seq - 1)).toMatchObject({ seq: seq - 1 });
}

/** Another session is as it always was. */
async function expectUnaffected(store: Store): Promise<void> {
  await write(store, 'whole', [message(1)]);
  expect(await open(store).run(work, { session: 'whole' })).toMatchObject({
    status: 'completed',
    output: 'done',
  });
  expect((await open(store).sessions.open({ id: 'whole' })).events.length).toBeGreaterThan(2);
}

describe.each(storePlaces)('a ledger of a newer version on %s', (_name, make) => {
  let place: StorePlace;
  let store: Store;
  beforeEach(async () => {
    place = await make();
    store = place.open();
  });
  afterEach(async () => {
    await store.close();
    await place.remove();
  });

  test('is refused, can be read as raw events, and leaves other sessions alone', async () => {
    await write(store, 's', [message(1), newerMessage(2), message(3)]);
    await expectRefused(store, 's', 2, 3);
    const events = await all(open(store).sessions.events('s'));
    expect(events).toEqual([
      message(1),
      {
        type: 'unreadable',
        seq: 2,
        reason: expect.stringContaining('version 2 of type "user"'),
        stored: newerMessage(2),
      },
      message(3),
    ]);
    expect(await all(open(store).sessions.events('s', { after: 1, upTo: 2 }))).toEqual([events[1]]);
    await expectUnaffected(store);
  });

  test('a ledger that can be read gives its events, also of a fork', async () => {
    await write(store, 's', [message(1), message(2)]);
    await open(store).sessions.fork('s', { at: 1, id: 'fork' });
    expect(await all(open(store).sessions.events('s'))).toEqual([message(1), message(2)]);
    expect(await all(open(store).sessions.events('fork'))).toMatchObject([
      message(1),
      { type: 'decision' },
    ]);
  });

  test('an unknown session has no events', async () => {
    await expect(all(open(store).sessions.events('unknown'))).rejects.toMatchObject({
      code: 'session_not_found',
    });
  });
});

describe.each(databasePlaces)('a ledger that is damaged on %s', (_name, make) => {
  let place: DatabasePlace;
  let store: Store;
  beforeEach(async () => {
    place = await make();
    store = place.open();
  });
  afterEach(async () => {
    await store.close();
    await place.remove();
  });

  const damages = {
    'text that is no JSON': [
      'update {events} set body = substr(body, 1, 3) where seq = 2 and ledger = 1',
      /text is damaged/,
    ],
    'JSON that is no event': [
      'update {events} set body = \'"x","y"\' where seq = 2 and ledger = 1',
      /body is damaged/,
    ],
    'a row that is missing': ['delete from {events} where seq = 2 and ledger = 1', /is missing/],
    'text that looks like two rows': [
      'update {events} set body = \'"x",2,"a"],[3,1,1,0,0,"y",2,"b"\' where seq = 2 and ledger = 1',
      /damaged/,
    ],
    'an unknown type': [
      'update {events} set type = 77 where seq = 2 and ledger = 1',
      /type 77 is not known/,
    ],
  } as const;

  test.each(Object.entries(damages))(
    '%s: the session is refused, and all that is left of it can be read',
    async (_, [damage, reason]) => {
      await write(store, 's', [message(1), message(2), message(3)]);
      expect(await place.damage(damage)).toBe(1);
      await expectRefused(store, 's', 2, 3);
      const events = await all(open(store).sessions.events('s'));
      expect(events).toMatchObject([
        message(1),
        { type: 'unreadable', seq: 2, reason: expect.stringMatching(reason) },
        message(3),
      ]);
      if (damage.startsWith('update')) expect(events[1]).toHaveProperty('stored');
      await expectUnaffected(store);
    },
  );

  test(
    'an event that names its path for later ones takes only itself along when its type is ' +
      'unknown',
    async () => {
      const { session: made } = await open(store).run(work, { session: 's', input: 'Go' });
      const count = made.events.length;
      const start = made.events.findIndex(({ type }) => type === 'invocation_start') + 1;
      await made.ledger.release();
      expect(await place.damage(`update {events} set type = 77 where seq = ${start}`)).toBe(1);
      const events = await all(open(store).sessions.events('s'));
      expect(events).toHaveLength(count);
      expect(events.filter(({ type }) => type === 'unreadable').map(({ seq }) => seq)).toEqual([
        start,
      ]);
    },
  );
});

test('a snapshot with events of a newer version is refused before anything is kept', async () => {
  const snapshot = { app, id: 's', events: [message(1), newerMessage(2)] };
  await expect(session.fromSnapshot(snapshot)).rejects.toMatchObject({
    code: 'ledger_unreadable',
    data: { seq: 2 },
  });
  const store = memoryStore();
  const refused = await open(store)
    .sessions.restore(snapshot)
    .catch((error: unknown) => error);
  expect(isAdjutantError(refused, 'ledger_unreadable')).toBe(true);
  expect(await store.for({ tenant: 'default', app }).head('s')).toBeUndefined();
  const unknown = { ...message(1), type: 'dream' } as unknown as Event;
  await expect(session.fromSnapshot({ app, id: 's', events: [unknown] })).rejects.toMatchObject({
    code: 'ledger_unreadable',
  });
});
