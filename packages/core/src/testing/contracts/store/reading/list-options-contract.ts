import type {
  LedgerStore,
  ListOptions,
  SessionListing,
  SessionSummary,
} from '../../../../ledger/port.ts';
import { Writer, writeAt } from '../harness.ts';
import type { Suite } from '../suite.ts';

const statuses = ['active', 'completed', 'error'] as const;

/** Promise of the options of `list`: order and filters, in pages too. */
export function listOptionsContract(suite: Suite): void {
  creationContract(suite);
  filterContract(suite);
  idContract(suite);
  filteredPageContract(suite);
}

function creationContract({ describe, expect, test }: Suite): void {
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
  });
}

function filterContract({ describe, expect, test }: Suite): void {
  describe('list', () => {
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
  });
}

function idContract({ describe, expect, test }: Suite): void {
  describe('list', () => {
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

function filteredPageContract({ describe, expect, test }: Suite): void {
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

async function ids(ledgers: LedgerStore, options: ListOptions): Promise<readonly string[]> {
  return (await ledgers.list(options)).map(({ id }) => id);
}
