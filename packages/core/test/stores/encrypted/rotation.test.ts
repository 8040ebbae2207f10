import { memoryStore, type Store } from 'adjutant';
import { encrypted, type KeyProvider, localKeys } from 'adjutant/encryption';
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

const old = localKeys({ keys: [firstKey] });
const both = localKeys({ keys: [secondKey, firstKey] });
const next = localKeys({ keys: [secondKey] });

async function writeMuch(ledgers: LedgerStore): Promise<void> {
  await write(ledgers, 's', ['a', 'b'], {
    shared: [{ scope: 'user', scopeId: '1', key: 'n', value: 'shared', baseVersion: 0 }],
  });
  await ledgers.fork('s', 1, 'f', messages(1, ['x']));
  for (let i = 0; i < 5; i++) await write(ledgers, `t${i}`, [`t${i}`]);
}

async function expectMuch(ledgers: LedgerStore): Promise<void> {
  expect(await textsOf(ledgers, 's')).toEqual(['a', 'b']);
  expect(await textsOf(ledgers, 'f')).toEqual(['a', 'x']);
  for (let i = 0; i < 5; i++) expect(await textsOf(ledgers, `t${i}`)).toEqual([`t${i}`]);
  expect(await ledgers.readShared('user', '1')).toMatchObject({ n: { value: 'shared' } });
}

/** All events, as they are stored. */
async function storedEvents(place: DatabasePlace): Promise<string> {
  return JSON.stringify(await place.rows('select * from {s}events order by ledger, seq'));
}

describe.each(places)('rotation on %s', (_, make) => {
  test('makes the older key superfluous and leaves the events as they are', () =>
    withPlace(make, async (place) => {
      await writeMuch(place.open(old).for(scope));
      const before = await storedEvents(place);
      expect((await failureOf(textsOf(place.open(next).for(scope), 's'))).code).toBe(
        'key_unavailable',
      );
      // A record for each of seven sessions, and one for what belongs to none.
      expect(await place.open(both).rotate(scope)).toEqual({
        records: 8,
        rewrapped: 8,
        destroyed: 0,
      });
      expect(await place.open(both).rotate(scope)).toEqual({
        records: 8,
        rewrapped: 0,
        destroyed: 0,
      });
      await expectMuch(place.open(next).for(scope));
      expect(await storedEvents(place)).toBe(before);
      const failure = await failureOf(textsOf(place.open(old).for(scope), 's'));
      expect(failure).toMatchObject({
        code: 'key_unavailable',
        message: expect.stringContaining('"k2"'),
      });
      await place.close();
      expect((await place.contents()).includes('"k1"')).toBe(false);
    }));

  test('is not undone by forks of sessions that it has not come to', () =>
    withPlace(make, async (place) => {
      await writeMuch(place.open(old).for(scope));
      // A process that knows the new key forks, and nothing is rotated.
      await place.open(both).for(scope).fork('s', 2, 'g');
      expect(await textsOf(place.open(next).for(scope), 'g')).toEqual(['a', 'b']);
      expect((await failureOf(textsOf(place.open(next).for(scope), 's'))).code).toBe(
        'key_unavailable',
      );
    }));

  test('goes on while others work, and leaves other tenants and apps alone', () =>
    withPlace(make, async (place) => {
      const [working, rotating] = [place.open(both), place.open(both)];
      await writeMuch(place.open(old).for(scope));
      await writeMuch(place.open(old).for({ ...scope, tenant: 'other' }));
      const ledgers = working.for(scope);
      const work = async (): Promise<void> => {
        for (let i = 0; i < 20; i++) await write(ledgers, `new${i}`, ['n']);
        await ledgers.fork('s', 2, 'g');
        await ledgers.delete('t0');
        await write(ledgers, 't0', ['t0']);
      };
      await Promise.all([work(), rotating.rotate(scope), rotating.rotate(scope)]);
      await expectMuch(place.open(next).for(scope));
      expect(await textsOf(place.open(next).for(scope), 'g')).toEqual(['a', 'b']);
      for (let i = 0; i < 20; i++)
        expect(await textsOf(place.open(next).for(scope), `new${i}`)).toEqual(['n']);
      await expectMuch(place.open(old).for({ ...scope, tenant: 'other' }));
    }));
});

/** A store whose process is killed at one call of a method of the records of keys. */
function stoppingAt(store: Store, call: number, onStop: () => void): Store {
  let calls = 0;
  return {
    ...store,
    for: (given) =>
      new Proxy(store.for(given), {
        get: (target, name) => {
          const method = Reflect.get(target, name) as (...args: unknown[]) => unknown;
          return (...args: unknown[]) => {
            calls += 1;
            if (calls < call) return Reflect.apply(method, target, args);
            if (calls === call)
              void Promise.resolve(Reflect.apply(method, target, args)).then(onStop);
            return new Promise(() => undefined);
          };
        },
      }),
  };
}

describe('a rotation that is stopped', () => {
  test(
    'anywhere leaves everything readable with both keys, and is gone on with by ' + 'another one',
    async () => {
      let isDone = false;
      let stops = 0;
      for (let call = 1; !isDone; call++) {
        const inner = memoryStore();
        await writeMuch(encrypted(inner, { keys: old }).for(scope));
        const stopped = Promise.withResolvers<boolean>();
        const rotation = encrypted(
          stoppingAt(inner, call, () => stopped.resolve(false)),
          { keys: both },
        ).rotate(scope);
        isDone = await Promise.race([rotation.then(() => true), stopped.promise]);
        if (!isDone) stops += 1;
        await expectMuch(encrypted(inner, { keys: both }).for(scope));
        await encrypted(inner, { keys: both }).rotate(scope);
        await expectMuch(encrypted(inner, { keys: next }).for(scope));
      }
      expect(stops).toBeGreaterThan(20);
    },
  );

  test('by a key that is missing changes nothing that cannot be undone', async () => {
    const inner = memoryStore();
    await writeMuch(encrypted(inner, { keys: old }).for(scope));
    expect((await failureOf(encrypted(inner, { keys: next }).rotate(scope))).code).toBe(
      'key_unavailable',
    );
    await expectMuch(encrypted(inner, { keys: old }).for(scope));
  });
});

/** A key management service: nothing but wrapped keys leaves it, and it counts what it is asked. */
function managementService(): KeyProvider & { asked: string[]; fails: boolean } {
  const service = localKeys({ keys: [firstKey] });
  const asked: string[] = [];
  const counted = async <Answer>(name: string, answer: () => Promise<Answer>): Promise<Answer> => {
    asked.push(name);
    if (provider.fails) throw new Error('the connection to hsm.internal was lost (token hunter2)');
    return answer();
  };
  const provider = {
    asked,
    fails: false,
    currentKey: (tenant: string) => counted('current', () => service.currentKey(tenant)),
    wrap: (tenant: string, dataKey: Uint8Array) =>
      counted('wrap', () => service.wrap(tenant, dataKey)),
    unwrap: (tenant: string, keyId: string, wrapped: Uint8Array) =>
      counted('unwrap', () => service.unwrap(tenant, keyId, wrapped)),
  };
  return provider;
}

describe('a key provider', () => {
  test('is asked once for a session that is in use, and again when many others were', async () => {
    const keys = managementService();
    const inner = memoryStore();
    const ledgers = encrypted(inner, { keys, cachedSessions: 2 }).for(scope);
    await write(ledgers, 's', ['a']);
    keys.asked.length = 0;
    for (let i = 0; i < 5; i++) expect(await textsOf(ledgers, 's')).toEqual(['a']);
    expect(keys.asked).toEqual([]);
    for (const session of ['t', 'u', 'v']) await write(ledgers, session, ['b']);
    keys.asked.length = 0;
    expect(await textsOf(ledgers, 's')).toEqual(['a']);
    expect(keys.asked).toEqual(['unwrap']);
  });

  test('that fails is a failure that may pass, without what it said', async () => {
    const keys = managementService();
    const inner = memoryStore();
    await write(encrypted(inner, { keys }).for(scope), 's', ['a']);
    keys.fails = true;
    const ledgers = encrypted(inner, { keys }).for(scope);
    const failure = await failureOf(textsOf(ledgers, 's'));
    expect(failure.code).toBe('store_unavailable');
    expect(failure.message).toContain('"k1"');
    expect(failure.message).not.toContain('hunter2');
    keys.fails = false;
    expect(await textsOf(ledgers, 's')).toEqual(['a']);
  });
});
