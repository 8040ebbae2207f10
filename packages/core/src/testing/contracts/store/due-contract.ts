import { defined } from '../../../base/defined.ts';
import type { Batch, LedgerStore } from '../../../ledger/port.ts';
import { codeOf, farAway, inboxItem, longAgo, ttl, Writer } from './harness.ts';
import { withOtherProcess } from './other-process.ts';
import type { Suite } from './suite.ts';

/** Makes a session that no process owns. */
async function leave(
  ledgers: LedgerStore,
  session: string,
  batch: Omit<Batch, 'events'> = {},
): Promise<void> {
  const writer = await Writer.claim(ledgers, session);
  await writer.write(['a'], batch);
  await ledgers.release(writer.claim);
}

async function dueOf(ledgers: LedgerStore, limit?: number): Promise<readonly string[]> {
  return (await ledgers.due(defined({ limit }))).map(({ session }) => session);
}

/** Promise of `due`: sessions that no process owns and that have something to do now. */
export function dueContract(suite: Suite): void {
  reasonContract(suite);
  holdingContract(suite);
  scopeContract(suite);
}

function reasonContract({ describe, expect, test }: Suite): void {
  describe('due', () => {
    test('are sessions whose time has come, until the time is taken back', async ({ ledgers }) => {
      await leave(ledgers, 'never');
      await leave(ledgers, 'later', { wakeAt: farAway });
      await leave(ledgers, 'now', { wakeAt: longAgo });
      expect(await ledgers.due()).toEqual([{ tenant: 'acme', app: 'shop', session: 'now' }]);
      await leave(ledgers, 'now');
      expect(await dueOf(ledgers)).toEqual(['now']);
      await leave(ledgers, 'now', { wakeAt: null });
      expect(await dueOf(ledgers)).toEqual([]);
    });

    test('they become by the clock of the store', async ({ ledgers, advance }) => {
      const { until } = await ledgers.claim('s', 'writer', { ttlMs: 1_000 });
      await leave(ledgers, 's', { wakeAt: until });
      advance(999);
      expect(await dueOf(ledgers)).toEqual([]);
      advance(1);
      expect(await dueOf(ledgers)).toEqual(['s']);
    });

    test('are sessions with something in the inbox, until it is consumed', async ({ ledgers }) => {
      await leave(ledgers, 's', { wakeAt: farAway });
      await ledgers.post('s', inboxItem('k'));
      expect(await dueOf(ledgers)).toEqual(['s']);
      await leave(ledgers, 's', { consumes: [1] });
      expect(await dueOf(ledgers)).toEqual([]);
    });

    test('come with the longest overdue first, each once, as many as asked for', async ({
      ledgers,
    }) => {
      await leave(ledgers, 'third', { wakeAt: longAgo + 3 });
      await leave(ledgers, 'first', { wakeAt: longAgo + 1 });
      await leave(ledgers, 'second');
      await ledgers.post('second', { ...inboxItem('k'), at: longAgo + 2 });
      await ledgers.post('first', { ...inboxItem('k'), at: longAgo + 4 });
      await ledgers.post('third', { ...inboxItem('k'), at: longAgo + 5 });
      await ledgers.post('third', { ...inboxItem('l'), at: longAgo + 6 });
      expect(await dueOf(ledgers)).toEqual(['first', 'second', 'third']);
      expect(await dueOf(ledgers, 2)).toEqual(['first', 'second']);
      for (const limit of [0, 1.5]) expect(await codeOf(ledgers.due({ limit }))).toBe('RangeError');
    });

    test('are not forks and deleted sessions', async ({ ledgers }) => {
      await leave(ledgers, 's', { wakeAt: longAgo });
      await ledgers.post('s', inboxItem('k'));
      await ledgers.fork('s', 1, 'fork');
      expect(await dueOf(ledgers)).toEqual(['s']);
      await ledgers.delete('s');
      expect(await dueOf(ledgers)).toEqual([]);
    });
  });
}

function holdingContract({ describe, expect, test }: Suite): void {
  describe('due', () => {
    test('is not what somebody holds, until it is given back', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { wakeAt: longAgo });
      await ledgers.post('s', inboxItem('k'));
      await leave(ledgers, 'free', { wakeAt: longAgo + 1 });
      expect(await dueOf(ledgers, 1)).toEqual(['free']);
      await ledgers.release(writer.claim);
      expect(await dueOf(ledgers)).toEqual(['s', 'free']);
    });

    test('stays what was claimed and given back', async ({ ledgers }) => {
      await leave(ledgers, 's', { wakeAt: longAgo });
      await ledgers.release(await ledgers.claim('s', 'other', { ttlMs: ttl }));
      expect(await dueOf(ledgers)).toEqual(['s']);
    });

    test('is what somebody held whose lease is over', async ({ ledgers, advance }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { wakeAt: longAgo });
      advance(ttl - 1);
      expect(await dueOf(ledgers)).toEqual([]);
      advance(1);
      expect(await dueOf(ledgers)).toEqual(['s']);
    });

    test('is at once what a process of this machine held that no longer exists', async ({
      ledgers,
    }) => {
      await withOtherProcess(async ({ owner, kill }) => {
        const writer = await Writer.claim(ledgers, 's', owner);
        await writer.write(['a'], { wakeAt: longAgo });
        expect(await dueOf(ledgers)).toEqual([]);
        await kill();
        expect(await dueOf(ledgers)).toEqual(['s']);
      });
    });
  });
}

function scopeContract({ describe, expect, test }: Suite): void {
  describe('due', () => {
    test('is asked within a tenant and app, or by the administration for all', async ({
      store,
      ledgers,
    }) => {
      const foreign = store.for({ tenant: 'other', app: 'shop' });
      await leave(ledgers, 's', { wakeAt: longAgo + 1 });
      await leave(foreign, 's', { wakeAt: longAgo });
      await leave(store.for({ tenant: 'acme', app: 'other' }), 't', { wakeAt: farAway });
      expect(await ledgers.due()).toEqual([{ tenant: 'acme', app: 'shop', session: 's' }]);
      expect(await foreign.due()).toEqual([{ tenant: 'other', app: 'shop', session: 's' }]);
      expect(await store.admin.due()).toEqual([
        { tenant: 'other', app: 'shop', session: 's' },
        { tenant: 'acme', app: 'shop', session: 's' },
      ]);
      expect(await store.admin.due({ limit: 1 })).toHaveLength(1);
      await leave(store.for({ tenant: 'acme', app: 'shops' }), 'u', { wakeAt: longAgo - 1 });
      expect(await store.admin.due({ app: 'shop', limit: 2 })).toEqual([
        { tenant: 'other', app: 'shop', session: 's' },
        { tenant: 'acme', app: 'shop', session: 's' },
      ]);
      expect(await store.admin.due({ app: 'none' })).toEqual([]);
      expect(await codeOf(store.admin.due({ limit: 0 }))).toBe('RangeError');
    });

    test('is nothing of a store that was closed', async ({ store, ledgers }) => {
      await leave(ledgers, 's', { wakeAt: longAgo });
      await store.close();
      expect(await codeOf(ledgers.due())).toBe('store_unavailable');
      expect(await codeOf(store.admin.due())).toBe('store_unavailable');
      expect(await codeOf(store.admin.sweepBlobs())).toBe('store_unavailable');
    });
  });
}
