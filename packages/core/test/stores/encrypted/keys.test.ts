import { inspect } from 'node:util';
import { isAdjutantError, memoryStore, runtime, type Store, secret } from 'adjutant';
import { encrypted, type KeyProvider, type LocalKeysOptions, localKeys } from 'adjutant/encryption';
import { describe, expect, test } from 'vitest';
import { failureOf, messages, write } from './ledger-writer.ts';
import { firstKey, scope, secondKey, textsOf } from './places.ts';

const bytes = Uint8Array.from({ length: 32 }, (_, i) => i);
const hexadecimal = Buffer.from(bytes).toString('hex');
const base64 = Buffer.from(bytes).toString('base64');

function ledgersOf(store: Store, ...keys: LocalKeysOptions['keys']) {
  return encrypted(store, { keys: localKeys({ keys }) }).for(scope);
}

/** The message that options are refused with. */
function refusalOf(make: () => unknown): string {
  try {
    make();
  } catch (error) {
    if (isAdjutantError(error, 'invalid_option')) return error.message;
    throw error;
  }
  return 'taken';
}

describe('localKeys', () => {
  test('takes one key in several forms, also as a secret', async () => {
    const store = memoryStore();
    await write(ledgersOf(store, { id: 'k', key: bytes }), 's', ['a']);
    for (const key of [
      hexadecimal,
      hexadecimal.toUpperCase(),
      base64,
      `${base64}\n`,
      secret('key', base64),
    ]) {
      expect(await textsOf(ledgersOf(store, { id: 'k', key }), 's')).toEqual(['a']);
    }
    await write(ledgersOf(store, { id: 'p', secret: firstKey.secret }), 't', ['b']);
    expect(
      await textsOf(ledgersOf(store, { id: 'p', secret: secret('s', firstKey.secret) }), 't'),
    ).toEqual(['b']);
  });

  test('wraps with the first key and knows all of them', async () => {
    const store = memoryStore();
    await write(ledgersOf(store, firstKey), 's', ['a']);
    const ledgers = ledgersOf(store, secondKey, firstKey);
    expect(await textsOf(ledgers, 's')).toEqual(['a']);
    await write(ledgers, 't', ['b']);
    expect(await textsOf(ledgersOf(store, secondKey), 't')).toEqual(['b']);
  });

  test('has other keys for each tenant, and keys of one tenant alone', async () => {
    const keys = localKeys({ keys: [{ ...secondKey, tenant: 'other' }, firstKey] });
    const dataKey = bytes;
    const { keyId, wrapped } = await keys.wrap('acme', dataKey);
    expect(keyId).toBe('k1');
    expect(await keys.unwrap('acme', keyId, wrapped)).toEqual(Buffer.from(dataKey));
    expect((await failureOf(keys.unwrap('globex', keyId, wrapped))).code).toBe('key_unavailable');
    expect((await keys.currentKey('other')).id).toBe('k2');
    const ofOther = await keys.wrap('other', dataKey);
    // Without the key of a tenant, all that the tenant has is unreadable.
    const without = localKeys({ keys: [firstKey] });
    expect(
      (await failureOf(without.unwrap('other', ofOther.keyId, ofOther.wrapped))).message,
    ).toContain('"k2" of tenant "other"');
    expect((await failureOf(keys.unwrap('acme', 'k2', ofOther.wrapped))).code).toBe(
      'key_unavailable',
    );
  });

  test('shows no key, however it is looked at', () => {
    const keys = localKeys({ keys: [{ id: 'k', key: base64 }, firstKey] });
    const store = encrypted(memoryStore(), { keys });
    for (const shown of [
      inspect(keys, { depth: 9, showHidden: true }),
      JSON.stringify(keys),
      inspect(store, { depth: 9 }),
      JSON.stringify(store),
    ]) {
      for (const hidden of [base64, hexadecimal, firstKey.secret])
        expect(shown).not.toContain(hidden);
    }
  });

  test.each([
    ['no options', undefined],
    ['no keys', {}],
    ['an empty list', { keys: [] }],
    ['keys that are no list', { keys: 'hunter2-hunter2' }],
    ['a key without id', { keys: [{ key: base64 }] }],
    ['a key of the wrong length', { keys: [{ id: 'k', key: 'hunter2-hunter2' }] }],
    ['a short secret', { keys: [{ id: 'k', secret: 'hunter2-hunter2' }] }],
    ['neither key nor secret', { keys: [{ id: 'k' }] }],
    ['both', { keys: [{ id: 'k', key: base64, secret: firstKey.secret }] }],
    ['the same id twice', { keys: [firstKey, firstKey] }],
    ['an option that does not exist', { keys: [{ id: 'k', kee: 'hunter2-hunter2' }] }],
    ['another option that does not exist', { keys: [firstKey], kees: [] }],
  ])('refuses %s, without showing what was given', (_, options) => {
    const message = refusalOf(() => localKeys(options as never));
    expect(message).toContain('localKeys()');
    for (const hidden of ['hunter2', base64, firstKey.secret])
      expect(message).not.toContain(hidden);
  });
});

describe('encrypted', () => {
  test('refuses what it cannot work with', () => {
    const keys = localKeys({ keys: [firstKey] });
    for (const options of [
      undefined,
      {},
      { keys: {} },
      { keys, keyStore: 'x' },
      { keys, cachedSessions: 0 },
      { keys, kees: 1 },
    ]) {
      expect(refusalOf(() => encrypted(memoryStore(), options as never))).toContain('encrypted()');
    }
    expect(refusalOf(() => encrypted('store.db' as never, { keys }))).toContain(
      'the first argument',
    );
    expect(
      refusalOf(() => encrypted(memoryStore(), { keys }).for({ tenant: 'acme', app: 'shop#keys' })),
    ).toContain('shop#keys');
  });
});

describe('a key that is wrong or missing', () => {
  const wrong = { id: 'k1', secret: 'another secret under the same name, 0123456' };

  test.each([
    ['missing', secondKey],
    ['wrong', wrong],
  ])('(%s) is named, and nothing is changed', async (_, key) => {
    const store = memoryStore();
    const good = ledgersOf(store, firstKey);
    await write(good, 's', ['a'], {
      summary: { status: 'active', title: 'Title' },
      shared: [{ scope: 'u', scopeId: '1', key: 'n', value: 1, baseVersion: 0 }],
    });
    const bad = ledgersOf(store, key);
    const { epoch } = await bad.claim('s', 'writer', { ttlMs: 60_000, force: true });
    const item = { key: 'i', lane: 'input', by: 'user', at: 5, type: 'user', data: {} } as const;
    for (const work of [
      () => textsOf(bad, 's'),
      () => bad.append('s', { seq: 1, epoch }, { events: messages(1, ['b']) }),
      () => bad.post('s', item),
      () => bad.fork('s', 1, 'f'),
      () => bad.list(),
      () => bad.readShared('u', '1'),
      () => bad.putBlob(bytes),
    ]) {
      const failure = await failureOf(work());
      expect(failure).toMatchObject({
        code: 'key_unavailable',
        message: expect.stringContaining('"k1" of tenant "acme"'),
      });
    }
    expect(await textsOf(good, 's')).toEqual(['a']);
    expect((await good.list()).map(({ id }) => id)).toEqual(['s']);
    expect(await good.inbox('s')).toEqual([]);
  });

  test('does not keep a session from being deleted', async () => {
    const store = memoryStore();
    await write(ledgersOf(store, firstKey), 's', ['a']);
    await ledgersOf(store, secondKey).delete('s', { erase: true });
    expect(await ledgersOf(store, firstKey).list()).toEqual([]);
  });
});

describe('the store of the keys', () => {
  test('may be another one, without which nothing can be read', async () => {
    const keys: KeyProvider = localKeys({ keys: [firstKey] });
    const [store, keyStore] = [memoryStore(), memoryStore()];
    const ledgers = encrypted(store, { keys, keyStore }).for(scope);
    await write(ledgers, 's', ['a'], { summary: { status: 'active', title: 'Title' } });
    expect(await textsOf(encrypted(store, { keys, keyStore }).for(scope), 's')).toEqual(['a']);
    expect(await store.for({ ...scope, app: 'shop#keys' }).list()).toEqual([]);
    const elsewhere = encrypted(store, { keys, keyStore: memoryStore() }).for(scope);
    expect((await failureOf(textsOf(elsewhere, 's'))).code).toBe('segment_key_missing');
    expect((await failureOf(write(elsewhere, 's', ['b']))).code).toBe('segment_key_missing');
    expect((await elsewhere.list()).map(({ id, title }) => [id, title])).toEqual([
      ['s', undefined],
    ]);
    expect(await textsOf(ledgers, 's')).toEqual(['a']);
  });
});

describe('a store that was opened without its keys', () => {
  test('is told from a damaged one', async () => {
    const store = memoryStore();
    await write(ledgersOf(store, firstKey), 's', ['a']);
    const app = runtime({ ...scope, store });
    for (const open of [() => app.sessions.open({ id: 's' }), () => app.sessions.stateAt('s')]) {
      expect(await failureOf(open())).toMatchObject({
        code: 'ledger_unreadable',
        message: expect.stringContaining('encrypted(store, { keys })'),
      });
    }
    await app.close();
  });

  test('has sessions that are not encrypted, which are refused', async () => {
    const store = memoryStore();
    await write(store.for(scope), 's', ['a']);
    const ledgers = ledgersOf(store, firstKey);
    expect((await failureOf(textsOf(ledgers, 's'))).code).toBe('segment_key_missing');
    expect((await failureOf(write(ledgers, 's', ['b']))).code).toBe('segment_key_missing');
  });
});
