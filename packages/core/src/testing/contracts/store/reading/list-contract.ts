import { defined } from '../../../../base/defined.ts';
import type { SessionListing } from '../../../../ledger/port.ts';
import { codeOf, Writer, writeAt } from '../harness.ts';
import type { Suite } from '../suite.ts';

/** Promise of `list`: all sessions, the one with the newest event first. */
export function listContract(suite: Suite): void {
  orderContract(suite);
  summaryContract(suite);
  pageContract(suite);
}

function orderContract({ describe, expect, test }: Suite): void {
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

    test('refuses a limit that is none', async ({ ledgers }) => {
      for (const limit of [0, -1, 1.5])
        expect(await codeOf(ledgers.list({ limit }))).toBe('RangeError');
    });
  });
}

function summaryContract({ describe, expect, test }: Suite): void {
  describe('list', () => {
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
  });
}

function pageContract({ describe, expect, test }: Suite): void {
  describe('list', () => {
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
  });
}
