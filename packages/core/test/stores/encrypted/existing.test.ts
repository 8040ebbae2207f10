import { agent, runtime } from 'adjutant';
import { encrypted, localKeys } from 'adjutant/encryption';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { expectEverything, kinds, namedMarkers, writeEverything } from './everything.ts';
import { failureOf, write } from './ledger-writer.ts';
import { type OpenedPlace, places, scope, secondKey, textsOf, withPlace } from './places.ts';

const nothing = {
  ...{ sessions: 0, events: 0, requests: 0, inbox: 0, shared: 0, blobs: 0 },
  ...{ rows: 0, sends: 0 },
};

/** Writes without encryption, and closes the store. */
async function writePlain(
  place: OpenedPlace,
  work: (store: ReturnType<OpenedPlace['openPlain']>) => Promise<unknown>,
): Promise<void> {
  await work(place.openPlain());
  await place.close();
  await place.change('update {s}ledgers set owner = null, lease_until = null');
}

describe.each(places)('a store with content is encrypted in %s', (_, make) => {
  test('so that all of it can be read with the keys, and nothing without', () =>
    withPlace(make, async (place) => {
      await writePlain(place, (store) => writeEverything(store.for(scope), namedMarkers));
      const store = place.open();
      const report = await store.encryptExisting();
      expect(report).toMatchObject({ sessions: 2, requests: 1, inbox: 1, shared: 1, blobs: 1 });
      expect(report).toMatchObject({ rows: 1, sends: 1 });
      const ledgers = store.for(scope);
      // Snapshots are made again.
      await ledgers.putSnapshot('s', {
        key: 'fold',
        seq: 3,
        value: { text: namedMarkers.snapshot },
      });
      await expectEverything(ledgers, namedMarkers);
      expect(await textsOf(ledgers, 'f')).toContain(namedMarkers.fork);
      await place.close();
      const contents = await place.contents();
      for (const kind of kinds) expect(contents.includes(namedMarkers[kind]), kind).toBe(false);
      expect(await place.open().encryptExisting()).toEqual(nothing);
    }));

  test('with large values, tenants and apps, forks and what they share with deleted sessions', () =>
    withPlace(make, async (place) => {
      const other = { tenant: 'umbrella', app: 'blog' };
      const address: string[] = [];
      await writePlain(place, async (store) => {
        const ledgers = store.for(scope);
        await write(ledgers, 's', ['a', 'b', 'c']);
        await ledgers.fork('s', 2, 'f');
        await write(ledgers, 'f', ['x', 'y']);
        await ledgers.fork('f', 3, 'g');
        await ledgers.fork('s', 0, 'h');
        await write(ledgers, 'h', ['h']);
        address.push(await ledgers.putBlob(Buffer.from('large value')));
        await write(ledgers, 'g', ['z'], { blobs: address });
        await ledgers.delete('s');
        await ledgers.delete('f');
        await write(store.for(other), 's', ['other']);
      });
      const store = place.open();
      await store.encryptExisting();
      const [ledgers, blog] = [place.open().for(scope), place.open().for(other)];
      expect(await textsOf(ledgers, 'g')).toEqual(['a', 'b', 'x', 'z']);
      expect(await textsOf(ledgers, 'h')).toEqual(['h']);
      expect(await textsOf(blog, 's')).toEqual(['other']);
      const blob = await ledgers.getBlob(address[0] as string, 'g');
      expect(Buffer.from(blob).toString()).toBe('large value');
      await ledgers.fork('g', 4, 'k');
      await write(ledgers, 'k', ['more']);
      expect(await textsOf(ledgers, 'k')).toEqual(['a', 'b', 'x', 'z', 'more']);
      await ledgers.delete('g', { erase: true });
      expect(await ledgers.list()).toMatchObject([{ id: 'h' }]);
    }));

  test('so that a run goes on in it', () =>
    withPlace(make, async (place) => {
      const script = [{ text: 'First answer' }, { text: 'Second answer' }];
      const greeter = agent({ name: 'greeter', model: scriptedModel(script) });
      const plain = runtime({ app: 'shop', store: place.openPlain(), recover: 'manual' });
      await plain.run(greeter, { session: 'customer', input: 'Hello' });
      await place.close();
      const store = place.open();
      await store.encryptExisting();
      const app = runtime({ app: 'shop', store, recover: 'manual' });
      await app.run(greeter, { session: 'customer', input: 'Again' });
      const [listed] = (await app.sessions.list()).sessions;
      expect(listed).toMatchObject({ title: 'Hello', runnable: 'greeter' });
      const events = await app.sessions.open({ id: 'customer' });
      expect(events.events.filter(({ type }) => type === 'user')).toHaveLength(2);
    }));

  test('one app of several, and what was written since without the keys', () =>
    withPlace(make, async (place) => {
      const other = { ...scope, app: 'blog' };
      await writePlain(place, async (store) => {
        await write(store.for(scope), 's', ['a']);
        await write(store.for(other), 's', ['b']);
      });
      expect(await place.open().encryptExisting({ app: scope.app })).toEqual({
        ...nothing,
        sessions: 1,
        events: 1,
      });
      await place.close();
      await writePlain(place, async (store) => {
        expect(await textsOf(store.for(other), 's')).toEqual(['b']);
        await write(store.for(scope), 'forgotten', ['c']);
      });
      const store = place.open();
      expect(await store.encryptExisting()).toEqual({ ...nothing, sessions: 2, events: 2 });
      expect(await textsOf(store.for(scope), 's')).toEqual(['a']);
      expect(await textsOf(store.for(scope), 'forgotten')).toEqual(['c']);
      expect(await textsOf(store.for(other), 's')).toEqual(['b']);
    }));

  test('not while a process uses it, not without a key, and not past a damaged event', () =>
    withPlace(make, async (place) => {
      await write(place.openPlain().for(scope), 's', ['marker']);
      const refused = await failureOf(place.open().encryptExisting());
      expect(['store_unavailable', 'session_busy']).toContain(refused.code);
      expect(refused.message).toMatch(/another process has it open|is held by writer/);
      await writePlain(place, async () => undefined);
      const foreign = localKeys({ keys: [{ ...secondKey, tenant: 'umbrella' }] });
      expect((await failureOf(place.open(foreign).encryptExisting())).code).toBe('key_unavailable');
      await place.close();
      await place.change("update {s}events set body = '0' where body like '%marker%'");
      expect((await failureOf(place.open().encryptExisting())).code).toBe('ledger_unreadable');
    }));
});

test('other stores, other options and a store in memory are refused', async () => {
  const { memoryStore } = await import('adjutant');
  const { sqlite } = await import('adjutant/sqlite');
  const keys = localKeys({ keys: [secondKey] });
  const inMemory = encrypted(memoryStore(), { keys });
  expect(await failureOf(inMemory.encryptExisting())).toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('only the stores of adjutant/sqlite and adjutant/postgres'),
  });
  const app = 7 as unknown as string;
  expect(
    (await failureOf(Promise.resolve().then(() => inMemory.encryptExisting({ app })))).code,
  ).toBe('invalid_option');
  const file = encrypted(sqlite(':memory:'), { keys });
  expect(await failureOf(file.encryptExisting())).toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('encrypt it from the beginning'),
  });
  await file.close();
});
