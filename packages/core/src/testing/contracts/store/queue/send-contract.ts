import type { ListedRow, Send } from '../../../../ledger/port.ts';
import { codeOf, inboxItem, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

/** Promise of what crosses ledgers: births, sessions that a post makes, sends and listed rows. */
export function sendContract(suite: Suite): void {
  birthContract(suite);
  outboxContract(suite);
  sendsElsewhereContract(suite);
  rowContract(suite);
}

function birthContract({ describe, expect, test }: Suite): void {
  describe('birth', () => {
    test('is another one for each ledger, also for a fork and a name that is used again', async ({
      ledgers,
    }) => {
      const births = new Set<string | undefined>();
      for (let i = 0; i < 2; i++) {
        const writer = await Writer.claim(ledgers, 's');
        await writer.write(['a']);
        births.add(await ledgers.birth('s'));
        await ledgers.fork('s', 1, 'fork');
        births.add(await ledgers.birth('fork'));
        await ledgers.delete('s');
        await ledgers.delete('fork');
      }
      expect(births.size).toBe(4);
      expect(births.has(undefined)).toBe(false);
    });

    test('post to another birth is refused', async ({ ledgers }) => {
      await Writer.claim(ledgers, 's');
      const birth = (await ledgers.birth('s')) ?? '';
      await ledgers.post('s', inboxItem('a'), { birth });
      await ledgers.delete('s');
      expect(await codeOf(ledgers.post('s', inboxItem('b'), { birth }))).toBe('session_gone');
      await Writer.claim(ledgers, 's');
      expect(await codeOf(ledgers.post('s', inboxItem('b'), { birth }))).toBe('session_gone');
      expect(await ledgers.inbox('s')).toEqual([]);
    });

    test('post makes a session with its first item, and once only', async ({ ledgers }) => {
      expect(await codeOf(ledgers.post('s', inboxItem('a')))).toBe('session_not_found');
      await ledgers.post('s', inboxItem('a'), { open: true });
      const birth = await ledgers.birth('s');
      await ledgers.post('s', inboxItem('b'), { open: true });
      expect(await ledgers.birth('s')).toBe(birth);
      expect(await ledgers.inbox('s')).toHaveLength(2);
      expect(await ledgers.due()).toMatchObject([{ session: 's' }]);
      await ledgers.delete('s');
      expect(await codeOf(ledgers.post('s', inboxItem('a'), { open: true }))).toBe('session_gone');
      expect(await ledgers.head('s')).toBe(undefined);
    });
  });
}

const send = (to: string, key: string): Send => ({ to, item: inboxItem(key), open: true });

function outboxContract({ describe, expect, test }: Suite): void {
  describe('sends', () => {
    test('wait in their order until they are removed', async ({ ledgers, advance }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { sends: [send('t', '1'), send('u', '2')] });
      advance(1_000);
      await writer.write(['b'], { sends: [send('t', '3')] });
      const waiting = await ledgers.sends();
      expect(waiting.map(({ from, to, item }) => [from, to, item.key])).toEqual([
        ['s', 't', '1'],
        ['s', 'u', '2'],
        ['s', 't', '3'],
      ]);
      expect(waiting[0]).toMatchObject({ open: true, item: { data: { text: '1' } } });
      expect(await ledgers.sends({ olderThanMs: 1_000 })).toHaveLength(2);
      expect(await ledgers.sends({ from: 'none' })).toEqual([]);
      expect(await ledgers.sends({ limit: 1 })).toHaveLength(1);
      await ledgers.sent('s', [waiting[0]?.number ?? 0]);
      await ledgers.sent('s', [waiting[0]?.number ?? 0]);
      expect((await ledgers.sends({ from: 's' })).map(({ item }) => item.key)).toEqual(['2', '3']);
      expect(await codeOf(ledgers.sends({ limit: 0 }))).toBe('RangeError');
    });

    test('wait in their order, however many they are', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      const keys = Array.from({ length: 120 }, (_, i) => String(i));
      for (let i = 0; i < keys.length; i += 30)
        await writer.write([`event ${i}`], {
          sends: keys.slice(i, i + 30).map((key) => send('t', key)),
        });
      const waiting = await ledgers.sends({ from: 's', limit: keys.length });
      expect(waiting.map(({ item }) => item.key)).toEqual(keys);
    });

    test('are written once, also when their batch is sent again', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      const head = writer.head;
      await writer.write(['a'], { sends: [send('t', '1')] });
      const events = [];
      for await (const page of ledgers.read('s')) events.push(...page);
      await ledgers.append('s', head, { events, sends: [send('t', '1')] });
      expect(await ledgers.sends()).toHaveLength(1);
    });
  });
}

function sendsElsewhereContract({ describe, expect, test }: Suite): void {
  describe('sends', () => {
    test('are those of the tenant; the administration has those of the app', async ({
      store,
      ledgers,
    }) => {
      for (const tenant of ['acme', 'zeta']) {
        const writer = await Writer.claim(store.for({ tenant, app: 'shop' }), 's');
        await writer.write(['a'], { sends: [send('t', tenant)] });
      }
      const other = await Writer.claim(store.for({ tenant: 'acme', app: 'other' }), 's');
      await other.write(['a'], { sends: [send('t', 'other')] });
      expect((await ledgers.sends()).map(({ item }) => item.key)).toEqual(['acme']);
      const all = await store.admin.sends({ app: 'shop' });
      expect(all.map(({ tenant, item }) => [tenant, item.key])).toEqual([
        ['acme', 'acme'],
        ['zeta', 'zeta'],
      ]);
    });

    test('stay when their session is deleted, and are not there for forks', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { sends: [send('t', '1')] });
      await ledgers.fork('s', 1, 'fork');
      expect(await ledgers.sends({ from: 'fork' })).toEqual([]);
      await ledgers.delete('s');
      expect(await ledgers.sends({ from: 's' })).toHaveLength(1);
    });
  });
}

const row = (id: string, at: number, more: Partial<ListedRow> = {}): ListedRow => ({
  ...{ kind: 'task', id, status: 'open', at, body: { name: id } },
  ...more,
});

function rowContract({ describe, expect, test }: Suite): void {
  describe('rows', () => {
    test('are written by posts and appends, replaced by their id, and removed', async ({
      ledgers,
    }) => {
      const options = { open: true, rows: [row('1', 10), row('2', 20, { user: 'ann' })] };
      await ledgers.post('s', inboxItem('a'), options);
      const writer = await Writer.claim(ledgers, 's');
      const ended = row('1', 10, { status: 'ended', body: { done: true } });
      await writer.write(['a'], { rows: [ended, row('3', 5), row('x', 1, { kind: 'other' })] });
      const ids = async (filter: Partial<Parameters<typeof ledgers.rows>[0]> = {}) =>
        (await ledgers.rows({ kind: 'task', ...filter })).map(({ id }) => id);
      expect(await ids()).toEqual(['3', '1', '2']);
      expect(await ids({ newestFirst: true, limit: 2 })).toEqual(['2', '1']);
      expect(await ids({ newestFirst: true, after: { at: 10, id: '1' } })).toEqual(['3']);
      expect(await ids({ after: { at: 5, id: '3' } })).toEqual(['1', '2']);
      expect(await ids({ statuses: ['ended'] })).toEqual(['1']);
      expect(await ids({ user: 'ann' })).toEqual(['2']);
      expect(await ids({ id: '3' })).toEqual(['3']);
      expect(await ids({ session: 'none' })).toEqual([]);
      expect(await ledgers.rows({ kind: 'task', id: '1' })).toEqual([{ ...ended, session: 's' }]);
      await writer.write(['b'], { rows: [row('1', 10, { removed: true })] });
      expect(await ids()).toEqual(['3', '2']);
      expect(await codeOf(ledgers.rows({ kind: 'task', limit: 0 }))).toBe('RangeError');
    });

    test('are no longer listed when their time is over, or their session is gone', async ({
      ledgers,
      advance,
    }) => {
      const { now } = await ledgers.post('s', inboxItem('a'), { open: true });
      const rows = [row('1', now, { expiresAt: now + 1_000 }), row('2', now)];
      await ledgers.post('s', inboxItem('b'), { rows });
      expect(await ledgers.rows({ kind: 'task' })).toHaveLength(2);
      advance(1_000);
      expect(await ledgers.rows({ kind: 'task' })).toHaveLength(1);
      await ledgers.delete('s');
      expect(await ledgers.rows({ kind: 'task' })).toEqual([]);
    });
  });
}
