import { memoryStore } from 'adjutant';
import { encrypted, localKeys } from 'adjutant/encryption';
import { keptOpen } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { codeOf, inboxItem } from '../../../src/testing/contracts/store/harness.ts';
import { firstKey, scope, secondKey } from './places.ts';

/** Number of the sessions that have keys. */
async function keyed(inner: ReturnType<typeof memoryStore>): Promise<number> {
  const records = await inner.for({ ...scope, app: `${scope.app}#keys` }).list();
  return records.filter(({ id }) => id.startsWith('session:')).length;
}

test('posts that make a session at the same time are all readable', async () => {
  const store = encrypted(memoryStore(), { keys: localKeys({ keys: [firstKey] }) });
  const ledgers = store.for(scope);
  const keys = Array.from({ length: 8 }, (_, i) => `item ${i}`);
  await Promise.all(keys.map((key) => ledgers.post('s', inboxItem(key), { open: true })));
  expect((await ledgers.inbox('s')).map(({ data }) => data)).toHaveLength(8);
  await store.close();
});

test('a post that makes no session leaves no keys', async () => {
  const inner = memoryStore();
  const store = encrypted(inner, { keys: localKeys({ keys: [firstKey] }) });
  const ledgers = store.for(scope);
  const turn = { run: 'task', coalesceKey: 'c' };
  await ledgers.post('first', inboxItem('a'), { open: true, turn });
  const { joined } = await ledgers.post('second', inboxItem('b'), { open: true, turn });
  expect(joined).toMatchObject({ session: 'first' });
  const full = { open: true, turn: { run: 'task' }, admit: { total: 1 } };
  expect(await codeOf(ledgers.post('third', inboxItem('c'), full))).toBe('queue_full');
  await ledgers.delete('first');
  const again = ledgers.post('first', inboxItem('a'), { open: true });
  expect(await codeOf(again)).toBe('session_gone');
  expect(await keyed(inner)).toBe(0);
  await store.close();
});

test('the administration reads the sends of all tenants whose keys it has', async () => {
  const inner = keptOpen(memoryStore());
  const zeta = { tenant: 'zeta', app: scope.app };
  const both = [{ ...secondKey, tenant: zeta.tenant }, firstKey];
  const store = encrypted(inner, { keys: localKeys({ keys: both }) });
  for (const of of [scope, zeta]) {
    const { epoch } = await store.for(of).claim('s', 'writer', { ttlMs: 60_000 });
    const sends = [{ to: 't', item: inboxItem(of.tenant) }];
    await store.for(of).append('s', { seq: 0, epoch }, { events: [], sends });
  }
  const textsOf = async (of: typeof store): Promise<readonly unknown[]> =>
    (await of.admin.sends({ app: scope.app })).map(({ tenant, item }) => [tenant, item.data]);
  expect(await textsOf(store)).toEqual([
    ['acme', { text: 'acme' }],
    ['zeta', { text: 'zeta' }],
  ]);
  const sealed = await inner.admin.sends({ app: scope.app });
  expect(JSON.stringify(sealed.map(({ item }) => item.data))).not.toContain('text');
  const withoutZeta = encrypted(inner, { keys: localKeys({ keys: [firstKey] }) });
  expect(await textsOf(withoutZeta)).toEqual([['acme', { text: 'acme' }]]);
  await store.close();
});
