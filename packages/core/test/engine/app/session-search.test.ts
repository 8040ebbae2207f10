import {
  agent,
  memoryStore,
  type Runnable,
  type Runtime,
  type RuntimeOptions,
  runtime,
  type Store,
} from 'adjutant';
import { encrypted, localKeys } from 'adjutant/encryption';
import type { LedgerStore, ReadRange, SessionSearch, SessionSearchQuery } from 'adjutant/store';
import { scriptedModel, testClock } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';

const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Gladly, says Zoë.' })) });
const scribe = agent({ name: 'scribe', model: scriptedModel(() => ({ text: 'Noted.' })) });

function opened(options: Partial<RuntimeOptions> = {}): Runtime {
  const base = { app: 'shop', runnables: [clerk, scribe], recover: 'manual' } as const;
  const app = runtime({ ...base, ...options });
  onTestFinished(() => app.close());
  return app;
}

async function say(
  app: Runtime,
  session: string,
  input: string,
  who: Runnable = clerk,
): Promise<void> {
  await app.run(who, { session, input });
}

/** Ids of all sessions that match, and the number of pages that they came in. */
async function found(app: Runtime, text: string, more: object = {}) {
  const ids: string[] = [];
  let pages = 0;
  let cursor: string | undefined;
  do {
    const page = await app.sessions.list({ text, ...more, cursor });
    ids.push(...page.sessions.map(({ id }) => id));
    cursor = page.cursor;
    pages += 1;
  } while (cursor !== undefined);
  return { ids, pages };
}

/** A store that counts the events that are read of ledgers. */
function counted(store: Store): { readonly store: Store; readonly count: { events: number } } {
  const count = { events: 0 };
  const counting = (ledgers: LedgerStore): LedgerStore =>
    new Proxy(ledgers, {
      get(target, name) {
        if (name === 'readStored')
          return async function* (session: string, range?: ReadRange) {
            for await (const page of target.readStored(session, range)) {
              count.events += page.length;
              yield page;
            }
          };
        const own: unknown = Reflect.get(target, name);
        return typeof own === 'function' ? own.bind(target) : own;
      },
    });
  const { description, admin } = store;
  return {
    count,
    store: {
      ...{ description, admin, close: () => store.close() },
      for: (scope) => counting(store.for(scope)),
    },
  };
}

describe('sessions are found by the text of their messages', () => {
  test.for<[string, readonly string[]]>([
    ['parcel', ['b', 'a']],
    ['PARCEL lost', ['a']],
    ['lost parcel', ['a']],
    ['"parcel is lost"', ['a']],
    ['"lost parcel"', []],
    ['strasse', []],
    ['STRAßE', ['b']],
    ['cafe', ['b']],
    ['zoe', ['b', 'a']],
    ['gladly 4711', ['a']],
    ['小包', ['c']],
    ['.*', []],
    ['%', []],
    ['"', ['c', 'b', 'a']],
  ])('%s', async ([text, ids]) => {
    const app = opened();
    await say(app, 'a', 'My parcel\nis lost, number 4711.');
    await say(app, 'b', 'A parcel for Café Straße');
    await say(app, 'c', '小包はどこ', scribe);
    expect((await found(app, text)).ids).toEqual(ids);
  });

  test('and by other properties, in the order that is asked for', async () => {
    // Sessions of one millisecond are in no order that a caller could know.
    const clock = testClock();
    const app = opened({ store: memoryStore({ clock }), ports: { clock } });
    for (const [id, userId] of [
      ['a', 'ann'],
      ['b', 'bob'],
      ['c', 'ann'],
    ] as const) {
      await app.sessions.create({ id, userId });
      await clock.advance(1);
    }
    for (const [id, input, who] of [
      ['a', 'parcel', clerk],
      ['b', 'parcel', clerk],
      ['c', 'parcel', scribe],
      ['a', 'again', clerk],
    ] as const) {
      await say(app, id, input, who);
      await clock.advance(1);
    }
    expect((await found(app, 'parcel')).ids).toEqual(['a', 'c', 'b']);
    expect((await found(app, 'parcel', { order: 'createdAt' })).ids).toEqual(['c', 'b', 'a']);
    expect((await found(app, 'parcel', { user: 'ann' })).ids).toEqual(['a', 'c']);
    expect((await found(app, 'parcel', { runnable: 'scribe' })).ids).toEqual(['c']);
    expect((await found(app, 'parcel', { status: 'error' })).ids).toEqual([]);
    expect(await found(app, 'parcel', { limit: 1 })).toMatchObject({ ids: ['a', 'c', 'b'] });
  });

  test('of their own tenant only, also under one id', async () => {
    const app = opened({ tenants: true });
    await say(app, 'a', 'parcel');
    await say(app.tenants.get('acme'), 'a', 'letter');
    expect((await found(app, 'parcel')).ids).toEqual(['a']);
    expect((await found(app.tenants.get('acme'), 'parcel')).ids).toEqual([]);
    expect((await found(app.tenants.get('acme'), 'letter')).ids).toEqual(['a']);
  });

  test('as they are now: what has come since, forks, and sessions made again', async () => {
    const app = opened();
    await say(app, 'a', 'parcel');
    expect((await found(app, 'letter')).ids).toEqual([]);
    await say(app, 'a', 'letter');
    expect((await found(app, 'letter')).ids).toEqual(['a']);
    await app.sessions.fork('a', { id: 'b' });
    expect((await found(app, 'letter')).ids).toEqual(['b', 'a']);
    await app.sessions.delete('a');
    await say(app, 'a', 'card');
    expect((await found(app, 'letter')).ids).toEqual(['b']);
  });

  test('and each event is read once', async () => {
    const { store, count } = counted(memoryStore());
    const app = opened({ store });
    for (let i = 0; i < 20; i++) await say(app, `s${i}`, `parcel ${i}`);
    count.events = 0;
    await found(app, 'parcel');
    const { events } = count;
    expect(events).toBeGreaterThan(20);
    await found(app, 'letter');
    expect(count.events).toBe(events);
    await say(app, 's3', 'letter');
    count.events = 0;
    expect((await found(app, 'letter')).ids).toEqual(['s3']);
    expect(count.events).toBeLessThan(events / 5);
  });

  test('but not in an encrypted store', async () => {
    const keys = localKeys({ keys: [{ id: 'k1', key: Buffer.alloc(32, 1) }] });
    const app = opened({ store: encrypted(memoryStore(), { keys }) });
    await say(app, 'a', 'parcel');
    await expect(app.sessions.list({ text: 'parcel' })).rejects.toMatchObject({
      code: 'text_search_unavailable',
    });
    expect((await app.sessions.list()).sessions).toHaveLength(1);
  });

  test('by an engine of the app, with pages of its own', async () => {
    const asked: SessionSearchQuery[] = [];
    const search: SessionSearch = {
      async find(query) {
        asked.push(query);
        const { list, limit, ledgers } = query;
        const sessions = await ledgers.list({ ...list, limit });
        const last = sessions.at(-1);
        return { sessions, ...(last && { last }) };
      },
    };
    const app = opened({ search });
    await say(app, 'a', 'parcel');
    await say(app, 'b', 'letter');
    expect((await found(app, 'anything', { limit: 1, user: undefined })).ids).toEqual(['b', 'a']);
    expect(asked[0]).toMatchObject({ tenant: 'default', app: 'shop', text: 'anything', limit: 1 });
    expect(asked[1]?.list).toMatchObject({ order: 'updatedAt', before: { id: 'b' } });
  });

  test.for([
    [{ text: '' }, 'text'],
    [{ text: 7 }, 'text'],
  ] as const)('and %j is refused', async ([query, word]) => {
    const app = opened();
    await expect(app.sessions.list(query as never)).rejects.toMatchObject({
      code: 'invalid_run',
      message: expect.stringContaining(word),
    });
  });

  test.for([{}, { find: 'x' }, 7])('and an engine is none: %j', (search) => {
    expect(() => opened({ search: search as never })).toThrow('an object with the method `find`');
  });
});
