import type { LedgerStore, SessionListing } from '../../ledger/port.ts';
import { codeOf, eventsAfter, inboxItem, readAll, type Suite, ttl, Writer } from './harness.ts';

async function writeAt(ledgers: LedgerStore, session: string, at: number): Promise<void> {
  const claim = await ledgers.claim(session, 'writer', { ttl, force: true });
  const events = eventsAfter(claim.seq, [{ type: 'cancel', by: 'user' }]).map((event) => ({ ...event, at }));
  await ledgers.append(session, { seq: claim.seq, epoch: claim.epoch }, { events });
}

export function listingContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('list', () => {
    test('gives sessions by the time of their last event, newest first', async ({ ledgers }) => {
      await writeAt(ledgers, 'a', 3_000);
      await writeAt(ledgers, 'b', 1_000);
      await writeAt(ledgers, 'c', 2_000);
      expect((await ledgers.list()).map(({ id }) => id)).toEqual(['a', 'c', 'b']);
      await writeAt(ledgers, 'b', 4_000);
      expect((await ledgers.list()).map(({ id, seq, updatedAt }) => ({ id, seq, updatedAt }))).toEqual([
        { id: 'b', seq: 2, updatedAt: 4_000 },
        { id: 'a', seq: 1, updatedAt: 3_000 },
        { id: 'c', seq: 1, updatedAt: 2_000 },
      ]);
    });

    test('shows the last summary', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      expect(await ledgers.list()).toMatchObject([{ id: 's', seq: 0, status: 'active' }]);
      await writer.write(['a'], { summary: { status: 'awaiting_input', title: 'Refund', runnable: 'support' } });
      await writer.write(['b']);
      expect(await ledgers.list()).toMatchObject([{ id: 's', seq: 2, status: 'awaiting_input', title: 'Refund', runnable: 'support' }]);
      await writer.write(['c'], { summary: { status: 'completed' } });
      const [listing] = await ledgers.list();
      expect(listing).toMatchObject({ status: 'completed' });
      expect(listing).not.toHaveProperty('title');
    });

    test('pages through all sessions without repeating or leaving out any, also at equal times', async ({ ledgers }) => {
      for (let i = 0; i < 11; i++) await writeAt(ledgers, `s${i}`, 1_000 + Math.floor(i / 4));
      const whole = (await ledgers.list()).map(({ id }) => id);
      const paged: string[] = [];
      let before: SessionListing | undefined;
      for (;;) {
        const page = await ledgers.list({ limit: 3, ...(before === undefined ? {} : { before }) });
        paged.push(...page.map(({ id }) => id));
        before = page.at(-1);
        if (page.length < 3) break;
      }
      expect(whole).toHaveLength(11);
      expect(paged).toEqual(whole);
    });

    test('includes forks, with what their origin showed', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a', 'b'], { summary: { status: 'completed', title: 'Refund', runnable: 'support' } });
      await ledgers.fork('s', 1, 'fork');
      const listings = await ledgers.list();
      expect(listings.find(({ id }) => id === 'fork')).toMatchObject({ seq: 1, status: 'active', title: 'Refund', runnable: 'support' });
    });

    test('refuses a limit that is none', async ({ ledgers }) => {
      for (const limit of [0, -1, 1.5]) expect(await codeOf(ledgers.list({ limit }))).toBe('RangeError');
    });
  });
}

export function isolationContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  const others = [
    { tenant: 'acme', app: 'other' },
    { tenant: 'other', app: 'shop' },
    { tenant: 'acmes', app: 'hop' },
  ];
  describe('tenants and apps', () => {
    test('see nothing of each other', async ({ store, ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      const address = await ledgers.putBlob(Uint8Array.of(1, 2, 3));
      await writer.write(['secret'], { blobs: [address], shared: [{ scope: 'user', scopeId: '1', key: 'n', value: 1, baseVersion: 0 }] });
      for (const scope of others) {
        const foreign = store.for(scope);
        expect(await foreign.head('s')).toBeUndefined();
        expect(await codeOf(readAll(foreign, 's'))).toBe('session_not_found');
        expect(await codeOf(foreign.post('s', inboxItem('k')))).toBe('session_not_found');
        expect(await codeOf(foreign.fork('s', 1, 'f'))).toBe('session_not_found');
        expect(await codeOf(foreign.getBlob(address))).toBe('blob_missing');
        expect(await foreign.readShared('user', '1')).toEqual({});
        expect(await foreign.list()).toEqual([]);
        expect(await foreign.putBlob(Uint8Array.of(1, 2, 3))).not.toBe(address);
      }
    });

    test('may use the same names', async ({ store, ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['mine']);
      for (const scope of others) {
        const foreign = store.for(scope);
        const writer = await Writer.claim(foreign, 's');
        expect(writer.claim).toMatchObject({ epoch: 1, seq: 0 });
        await writer.write(['theirs'], { shared: [{ scope: 'user', scopeId: '1', key: 'n', value: 1, baseVersion: 0 }] });
        expect(await codeOf(writer.write(['x'], { blobs: [await ledgers.putBlob(Uint8Array.of(9))] }))).toBe('blob_missing');
      }
      expect(await ledgers.head('s')).toMatchObject({ seq: 1, epoch: 1 });
      expect(await ledgers.readShared('user', '1')).toEqual({});
    });

    test('are reached by every object that was asked for them', async ({ store, ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a']);
      expect(await store.for({ tenant: 'acme', app: 'shop' }).head('s')).toMatchObject({ seq: 1 });
    });
  });
}

export function closeContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('close', () => {
    test('waits for what is under way', async ({ store, ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      const append = writer.write(['a']);
      await store.close();
      expect(await append).toMatchObject({ seq: 1 });
    });

    test('makes the store unusable, and may be repeated', async ({ store, ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await store.close();
      await store.close();
      expect(await codeOf(writer.write(['a']))).toBe('store_unavailable');
      expect(await codeOf(readAll(ledgers, 's'))).toBe('store_unavailable');
      expect(await codeOf(store.for({ tenant: 'x', app: 'y' }).list())).toBe('store_unavailable');
    });

    test('may come before any use', async ({ store }) => {
      await store.close();
    });

    test('ends those who follow, with an error', async ({ store, ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a']);
      const follower = ledgers.follow('s', 0, new AbortController().signal)[Symbol.asyncIterator]();
      expect((await follower.next()).value).toMatchObject({ seq: 1 });
      const next = codeOf(follower.next());
      await store.close();
      expect(await next).toBe('store_unavailable');
    });
  });
}
