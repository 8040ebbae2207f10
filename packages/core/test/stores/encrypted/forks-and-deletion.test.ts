import { memoryStore, type Store } from 'adjutant';
import { encrypted, localKeys } from 'adjutant/encryption';
import type { LedgerStore } from 'adjutant/store';
import { describe, expect, test } from 'vitest';
import { failureOf, messages, write } from './ledger-writer.ts';
import {
  type DatabasePlace,
  firstKey,
  places,
  scope,
  secondKey,
  textsOf,
  withPlace,
} from './places.ts';

/** The sessions that have keys. */
async function keyedSessions(store: Store): Promise<readonly string[]> {
  const records = await store.for({ ...scope, app: `${scope.app}#keys` }).list();
  return records
    .map(({ id }) => id.replace('session:', ''))
    .filter((id) => id !== 'app')
    .sort();
}

/** Copies the stored keys, as a backup would. */
async function backupOfKeys(
  place: DatabasePlace,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return place.rows(
    `select session, title from {s}ledgers where app = '${scope.app}#keys' and session is not null`,
  );
}

describe.each(places)('forks on %s', (_, make) => {
  test('are read and written by another process, whatever became of their origin', () =>
    withPlace(make, async (place) => {
      const [here, there] = [place.open().for(scope), place.open().for(scope)];
      await write(here, 's', ['a', 'b', 'c', 'd']);
      await here.fork('s', 2, 'f', messages(2, ['x']));
      await write(there, 'f', ['y']);
      await there.fork('f', 4, 'g');
      await there.fork('f', 1, 'h');
      await here.delete('s');
      await there.delete('f');
      for (const ledgers of [here, there, place.open().for(scope)]) {
        expect(await textsOf(ledgers, 'g')).toEqual(['a', 'b', 'x', 'y']);
        expect(await textsOf(ledgers, 'h')).toEqual(['a']);
      }
      await write(here, 'g', ['z']);
      expect(await textsOf(there, 'g')).toEqual(['a', 'b', 'x', 'y', 'z']);
    }));

  test('show the title of their origin until they have one of their own', () =>
    withPlace(make, async (place) => {
      const ledgers = place.open().for(scope);
      await write(ledgers, 's', ['a', 'b'], { summary: { status: 'active', title: 'Refund' } });
      await ledgers.fork('s', 2, 'f');
      await write(ledgers, 'f', ['x']);
      await ledgers.fork('f', 1, 'g');
      await ledgers.delete('s');
      const titles = async (): Promise<readonly unknown[]> =>
        (await place.open().for(scope).list()).map(({ id, title }) => `${id}: ${title}`).sort();
      expect(await titles()).toEqual(['f: Refund', 'g: Refund']);
      await write(ledgers, 'f', ['y'], { summary: { status: 'active', title: 'Another' } });
      expect(await titles()).toEqual(['f: Another', 'g: Refund']);
    }));

  test('have no keys but those that they need', () =>
    withPlace(make, async (place) => {
      const store = place.open();
      const ledgers = store.for(scope);
      await write(ledgers, 's', ['a']);
      await ledgers.fork('s', 1, 'f');
      await write(ledgers, 'f', ['x']);
      await ledgers.fork('f', 1, 'g');
      await ledgers.fork('f', 2, 'h');
      await ledgers.fork('f', 0, 'i');
      const records = await place
        .openPlain()
        .for({ ...scope, app: 'shop#keys' })
        .list();
      const keysOf = (session: string): number =>
        (JSON.parse(records.find(({ id }) => id === `session:${session}`)?.title ?? '') as Segments)
          .segments.length;
      expect(['s', 'f', 'g', 'h', 'i'].map(keysOf)).toEqual([1, 2, 2, 3, 1]);
    }));
});

interface Segments {
  readonly segments: readonly { readonly wrapped: string }[];
}

function wrappedKeyOf(records: readonly Readonly<Record<string, unknown>>[], name: string): string {
  const record = JSON.parse(
    String(records.find(({ session }) => session === name)?.['title']),
  ) as Segments;
  return record.segments.at(-1)?.wrapped ?? 'none';
}

describe.each(places)('what is deleted on %s', (_, make) => {
  test('leaves no key, and its bytes in a backup cannot be read', () =>
    withPlace(make, async (place) => {
      const store = place.open();
      await write(store.for(scope), 's', ['a']);
      await write(store.for(scope), 'other', ['b']);
      const events = await place.rows(
        'select ledger, seq, at, type, actor, path, body from {s}events order by ledger',
      );
      const key = wrappedKeyOf(await backupOfKeys(place), 'session:s');
      expect((await place.contents()).includes(key)).toBe(true);
      await store.for(scope).delete('s');
      expect(await keyedSessions(place.openPlain())).toEqual(['other']);
      await place.close();
      expect((await place.contents()).includes(key)).toBe(false);
      const ledgers = place.open().for(scope);
      // Somebody puts the events back that a backup had. The session that has them now is not the
      // one that was deleted.
      await ledgers.claim('s', 'writer', { ttlMs: 1_000 });
      const [{ id }] = (await place.rows(
        "select id from {s}ledgers where session = 's' and app = 'shop'",
      )) as [{ id: number }];
      const { at, type, body } = events.find((event) => String(event['body']).length > 0) ?? {};
      await place.restoreEvent(Number(id), {
        at: Number(at),
        type: Number(type),
        body: String(body),
      });
      await place.change('update {s}ledgers set seq = 1 where id = $1', [Number(id)]);
      expect((await failureOf(textsOf(ledgers, 's'))).code).toMatch(
        /segment_key_missing|ledger_unreadable/,
      );
    }));

  test('leaves no copy of a key either that was made when its record was changed', () =>
    withPlace(make, async (place) => {
      const store = place.open();
      const ledgers = store.for(scope);
      const wrapped = new Set<string>();
      const look = async (): Promise<void> => {
        for (const { title } of await backupOfKeys(place))
          for (const segment of (JSON.parse(String(title)) as Segments).segments)
            wrapped.add(segment.wrapped);
      };
      for (let i = 0; i < 12; i++) {
        await ledgers.claim(`s${i}`, 'writer', { ttlMs: 60_000 });
        // Each of these claims the record of the session, which has no event yet.
        for (let post = 0; post <= i; post++) {
          await ledgers.post(`s${i}`, {
            key: `${post}`,
            lane: 'input',
            by: 'user',
            at: 5,
            type: 'user',
            data: { text: 'hello' },
          });
        }
        await write(ledgers, `s${i}`, ['a']);
        await ledgers.fork(`s${i}`, 1, `f${i}`);
        await look();
      }
      await place.open(localKeys({ keys: [secondKey, firstKey] })).rotate(scope);
      await look();
      for (let i = 0; i < 12; i++) await ledgers.delete(`s${i}`, { erase: true });
      await place.close();
      expect(wrapped.size).toBe(12 + 12 + (12 + 24));
      const contents = await place.contents();
      expect([...wrapped].filter((key) => contents.includes(key))).toEqual([]);
    }));

  test(
    'takes the keys of all forks along when it is erased, also of those whose own origin is ' +
      'gone',
    () =>
      withPlace(make, async (place) => {
        const [here, there] = [place.open().for(scope), place.open().for(scope)];
        await write(here, 'root', ['a', 'b']);
        await here.fork('root', 1, 's');
        await write(here, 's', ['x']);
        await there.fork('s', 2, 'f');
        await write(there, 'f', ['y']);
        await there.fork('f', 3, 'g');
        await there.fork('root', 2, 'sibling');
        await here.delete('f');
        await here.delete('s', { erase: true });
        expect(await keyedSessions(place.openPlain())).toEqual(['root', 'sibling']);
        expect(await textsOf(there, 'sibling')).toEqual(['a', 'b']);
        expect((await failureOf(textsOf(there, 'g'))).code).toBe('session_not_found');
        await there.delete('root', { erase: true });
        expect(await keyedSessions(place.openPlain())).toEqual([]);
      }),
  );

  test('is another session when it comes back, for every process', () =>
    withPlace(make, async (place) => {
      const [here, there] = [place.open().for(scope), place.open().for(scope)];
      await write(here, 's', ['old']);
      expect(await textsOf(there, 's')).toEqual(['old']);
      await here.delete('s');
      await write(here, 's', ['new']);
      // This process remembers the keys of the session that was deleted.
      expect(await textsOf(there, 's')).toEqual(['new']);
      await here.delete('s');
      await write(here, 's', ['newer']);
      await there.post('s', {
        key: 'i',
        lane: 'input',
        by: 'user',
        at: 5,
        type: 'user',
        data: { text: 'posted' },
      });
      expect((await here.inbox('s')).map(({ data }) => data)).toEqual([{ text: 'posted' }]);
      await here.delete('s');
      await write(here, 's', ['newest']);
      await write(there, 's', ['and more']);
      for (const ledgers of [here, there, place.open().for(scope)])
        expect(await textsOf(ledgers, 's')).toEqual(['newest', 'and more']);
    }));
});

/**
 * The store of a process that is killed: of its calls, the one with the number is not answered any
 * more, and no later one is made.
 */
function stoppingAt(store: Store, call: number): Store {
  let calls = 0;
  const never = (): Promise<never> => new Promise<never>(() => undefined);
  const over = (ledgers: LedgerStore): LedgerStore =>
    new Proxy(ledgers, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as (...args: unknown[]) => unknown;
        return (...args: unknown[]) => {
          calls += 1;
          if (calls > call) return never();
          const answer = Reflect.apply(method, target, args);
          return calls === call ? never() : answer;
        };
      },
    });
  return {
    description: store.description,
    admin: store.admin,
    for: (one) => over(store.for(one)),
    close: async () => undefined,
  };
}

/**
 * Does something on stores of which each stops one call later than the one before, until it is
 * done.
 */
async function stoppedAnywhere(
  work: (open: (stops?: boolean) => LedgerStore, plain: Store) => Promise<boolean>,
  leastCalls: number,
): Promise<void> {
  for (let call = 1; call < 100; call++) {
    const inner = memoryStore();
    const keys = localKeys({ keys: [firstKey] });
    const open = (stops = false): LedgerStore =>
      encrypted(stops ? stoppingAt(inner, call) : inner, { keys }).for(scope);
    if (await work(open, inner)) {
      expect(call).toBeGreaterThan(leastCalls);
      return;
    }
  }
  throw new Error('It was never done.');
}

/** Tells whether a promise has resolved before its store stopped. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  promise.then(
    () => (done = true),
    () => undefined,
  );
  // A store that has stopped never answers; everything in memory answers in microtasks.
  for (let turn = 0; turn < 500; turn++) await Promise.resolve();
  return done;
}

describe('a process that stops', () => {
  test(
    'while it forks leaves either no fork or a whole one, and no key that outlives ' + 'the origin',
    () =>
      stoppedAnywhere(async (open, plain) => {
        await write(open(), 's', ['a', 'b']);
        const done = await isDone(open(true).fork('s', 1, 'f', messages(1, ['x'])));
        const ledgers = open();
        if ((await ledgers.head('f')) !== undefined)
          expect(await textsOf(ledgers, 'f')).toEqual(['a', 'x']);
        else {
          // The name is free for a fork and for a session.
          await ledgers.delete('s', { erase: true });
          await write(ledgers, 'f', ['new']);
          expect(await textsOf(open(), 'f')).toEqual(['new']);
          await ledgers.delete('f');
          expect(await keyedSessions(plain)).toEqual([]);
        }
        return done;
      }, 8),
  );

  test('while it deletes leaves what can be deleted again, and then no key', () =>
    stoppedAnywhere(async (open, plain) => {
      await write(open(), 's', ['a', 'b']);
      const done = await isDone(open(true).delete('s'));
      await failureOf(open().delete('s'));
      expect(await open().list()).toEqual([]);
      expect(await keyedSessions(plain)).toEqual([]);
      return done;
    }, 2));

  test('while it erases leaves what can be erased again, and then no key', () =>
    stoppedAnywhere(async (open, plain) => {
      await write(open(), 's', ['a', 'b']);
      await open().fork('s', 1, 'f');
      await open().fork('f', 1, 'g');
      await open().delete('f');
      const done = await isDone(open(true).delete('s', { erase: true }));
      await failureOf(open().delete('s', { erase: true }));
      expect(await open().list()).toEqual([]);
      expect(await keyedSessions(plain)).toEqual([]);
      return done;
    }, 8));

  test('while it erases leaves no key after the next rotation', () =>
    stoppedAnywhere(async (open, plain) => {
      await write(open(), 's', ['a', 'b']);
      await open().fork('s', 1, 'f');
      const done = await isDone(open(true).delete('s', { erase: true }));
      await encrypted(plain, { keys: localKeys({ keys: [firstKey] }) }).rotate(scope);
      const living = (await plain.for(scope).list()).map(({ id }) => id).sort();
      expect(await keyedSessions(plain)).toEqual(living);
      return done;
    }, 6));

  test('while it makes a session leaves one that can be written to', () =>
    stoppedAnywhere(async (open) => {
      const done = await isDone(write(open(true), 's', ['a']));
      await write(open(), 's', ['b']);
      expect((await textsOf(open(), 's')).at(-1)).toBe('b');
      return done;
    }, 4));
});
