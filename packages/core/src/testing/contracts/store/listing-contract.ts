import { defined } from '../../../base/defined.ts';
import type {
  LedgerStore,
  ListOptions,
  SessionListing,
  SessionSummary,
} from '../../../ledger/port.ts';
import { codeOf, eventsAfter, inboxItem, readAll, type Suite, ttl, Writer } from './harness.ts';

async function writeAt(ledgers: LedgerStore, session: string, at: number): Promise<void> {
  const claim = await ledgers.claim(session, 'writer', { ttl, force: true });
  const events = eventsAfter(claim.seq, [{ type: 'cancel', by: 'user' }]).map((event) => ({
    ...event,
    at,
  }));
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
      expect(
        (await ledgers.list()).map(({ id, seq, updatedAt }) => ({ id, seq, updatedAt })),
      ).toEqual([
        { id: 'b', seq: 2, updatedAt: 4_000 },
        { id: 'a', seq: 1, updatedAt: 3_000 },
        { id: 'c', seq: 1, updatedAt: 2_000 },
      ]);
    });

    test('shows the last summary', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      expect(await ledgers.list()).toMatchObject([{ id: 's', seq: 0, status: 'active' }]);
      await writer.write(['a'], {
        summary: { status: 'awaiting_input', title: 'Refund', runnable: 'support' },
      });
      await writer.write(['b']);
      expect(await ledgers.list()).toMatchObject([
        { id: 's', seq: 2, status: 'awaiting_input', title: 'Refund', runnable: 'support' },
      ]);
      await writer.write([], { summary: { status: 'error', title: 'without events' } });
      expect(await ledgers.list()).toMatchObject([
        { seq: 2, status: 'error', title: 'without events' },
      ]);
      await writer.write(['c'], { summary: { status: 'completed' } });
      const [listing] = await ledgers.list();
      expect(listing).toMatchObject({ status: 'completed' });
      expect(listing).not.toHaveProperty('title');
    });

    test(
      'pages through all sessions without repeating or leaving out any, also at ' + 'equal times',
      async ({ ledgers }) => {
        for (let i = 0; i < 11; i++) await writeAt(ledgers, `s${i}`, 1_000 + Math.floor(i / 4));
        const whole = (await ledgers.list()).map(({ id }) => id);
        const paged: string[] = [];
        let before: SessionListing | undefined;
        for (;;) {
          const page = await ledgers.list({
            limit: 3,
            ...defined({ before }),
          });
          paged.push(...page.map(({ id }) => id));
          before = page.at(-1);
          if (page.length < 3) break;
        }
        expect(whole).toHaveLength(11);
        expect(paged).toEqual(whole);
      },
    );

    test('includes forks, with what their origin showed', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a', 'b'], {
        summary: { status: 'completed', title: 'Refund', runnable: 'support' },
      });
      await ledgers.fork('s', 1, 'fork');
      const listings = await ledgers.list();
      expect(listings.find(({ id }) => id === 'fork')).toMatchObject({
        seq: 1,
        status: 'active',
        title: 'Refund',
        runnable: 'support',
      });
    });

    test('refuses a limit that is none', async ({ ledgers }) => {
      for (const limit of [0, -1, 1.5])
        expect(await codeOf(ledgers.list({ limit }))).toBe('RangeError');
    });
  });
}

const statuses = ['active', 'completed', 'error'] as const;

async function ids(ledgers: LedgerStore, options: ListOptions): Promise<readonly string[]> {
  return (await ledgers.list(options)).map(({ id }) => id);
}

export function listOptionsContract(suite: Suite): void {
  filterContract(suite);
  pagingContract(suite);
}

function filterContract({ describe, expect, test }: Suite): void {
  describe('list', () => {
    test('may be by the time of creation', async ({ ledgers, advance }) => {
      for (const session of ['a', 'b', 'c']) {
        await writeAt(ledgers, session, 5_000 - session.charCodeAt(0));
        advance(1_000);
      }
      await writeAt(ledgers, 'b', 9_000);
      expect(await ids(ledgers, { order: 'createdAt' })).toEqual(['c', 'b', 'a']);
      expect(await ids(ledgers, { order: 'updatedAt' })).toEqual(['b', 'a', 'c']);
    });

    test('may be of one status, runnable and user', async ({ ledgers }) => {
      const summaries: readonly (readonly [string, SessionSummary])[] = [
        ['a', { status: 'active', runnable: 'support', user: '1' }],
        ['b', { status: 'completed', runnable: 'support', user: '2' }],
        ['c', { status: 'completed', runnable: 'sales', user: '1' }],
        ['d', { status: 'completed' }],
      ];
      for (const [session, summary] of summaries)
        await (await Writer.claim(ledgers, session)).write(['x'], { summary });
      const found = async (options: ListOptions): Promise<string> =>
        (await ids(ledgers, options)).toSorted().join('');
      expect(await found({ status: 'completed' })).toBe('bcd');
      expect(await found({ runnable: 'support' })).toBe('ab');
      expect(await found({ user: '1' })).toBe('ac');
      expect(
        await found({ user: '1', status: 'completed', runnable: 'sales', order: 'createdAt' }),
      ).toBe('c');
      expect(await found({ user: 'unknown' })).toBe('');
      expect(await ledgers.list({ user: '2' })).toMatchObject([
        { id: 'b', user: '2', status: 'completed', runnable: 'support' },
      ]);
      expect(
        (await ledgers.list({ status: 'completed' })).find(({ id }) => id === 'd'),
      ).not.toHaveProperty('user');
      await ledgers.fork('a', 1, 'fork of a');
      expect(await ids(ledgers, { user: '1', status: 'active', order: 'createdAt' })).toContain(
        'fork of a',
      );
    });

    test('may be of one id, and nothing else that is like it', async ({ store, ledgers }) => {
      const summary: SessionSummary = { status: 'completed', runnable: 'support', user: '1' };
      for (const session of ['a', 'A', 'a b', 'ab', '%'])
        await (await Writer.claim(ledgers, session)).write(['x'], { summary });
      await (await Writer.claim(store.for({ tenant: 'other', app: 'shop' }), 'elsewhere')).write(
        ['x'],
        { summary },
      );
      for (const id of ['a', 'A', 'a b', '%']) expect(await ids(ledgers, { id })).toEqual([id]);
      for (const id of ['', 'b', 'a ', 'elsewhere']) expect(await ids(ledgers, { id })).toEqual([]);
      expect(
        await ids(ledgers, { id: 'a', user: '1', status: 'completed', order: 'createdAt' }),
      ).toEqual(['a']);
      expect(await ids(ledgers, { id: 'a', user: '2' })).toEqual([]);
      const [listing] = await ledgers.list({ id: 'ab' });
      expect(await ids(ledgers, { id: 'ab', before: listing as SessionListing })).toEqual([]);
      await ledgers.fork('a', 1, 'fork of a');
      expect(await ids(ledgers, { id: 'fork of a' })).toEqual(['fork of a']);
    });
  });
}

function pagingContract({ describe, expect, test }: Suite): void {
  describe('list', () => {
    test('pages through what was asked for, in each order', async ({ ledgers }) => {
      for (let i = 0; i < 12; i++) {
        await writeAt(ledgers, `s${i}`, 1_000 + Math.floor(i / 5));
        const summary = { status: statuses[i % 3] as SessionSummary['status'], user: '1' };
        await (await Writer.claim(ledgers, `s${i}`)).write([], { summary });
      }
      for (const order of ['updatedAt', 'createdAt'] as const) {
        for (const filter of [{}, { status: 'completed' as const }, { user: '1' }]) {
          const whole = await ids(ledgers, { order, ...filter });
          const paged: SessionListing[] = [];
          for (let page = await ledgers.list({ order, ...filter, limit: 3 }); page.length > 0; ) {
            paged.push(...page);
            page = await ledgers.list({
              order,
              ...filter,
              limit: 3,
              before: page.at(-1) as SessionListing,
            });
          }
          expect(paged.map(({ id }) => id)).toEqual(whole);
          expect(new Set(whole).size).toBe('status' in filter ? 4 : 12);
        }
      }
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
      await writer.write(['secret'], {
        blobs: [address],
        shared: [{ scope: 'user', scopeId: '1', key: 'n', value: 1, baseVersion: 0 }],
      });
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
        await writer.write(['theirs'], {
          shared: [{ scope: 'user', scopeId: '1', key: 'n', value: 1, baseVersion: 0 }],
        });
        expect(
          await codeOf(writer.write(['x'], { blobs: [await ledgers.putBlob(Uint8Array.of(9))] })),
        ).toBe('blob_missing');
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
      expect(await codeOf(store.for({ tenant: 'x', app: 'y' }).head('s'))).toBe(
        'store_unavailable',
      );
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
