import { codeOf, errorOf, notes, readAll, readTexts, ttl, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

/**
 * Promise of `append`: a batch lands whole behind the head that its writer knows, or not at all.
 */
export function appendContract(suite: Suite): void {
  orderContract(suite);
  headContract(suite);
  refusalContract(suite);
}

function orderContract({ describe, expect, test }: Suite): void {
  describe('append', () => {
    test('puts events behind the head and answers with the new one', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      expect(await writer.write(['a', 'b'])).toMatchObject({ seq: 2, epoch: 1, inboxSeq: 0 });
      expect(await writer.write(['c'])).toMatchObject({ seq: 3, epoch: 1, inboxSeq: 0 });
      expect(await ledgers.head('s')).toEqual({ seq: 3, epoch: 1, inboxSeq: 0 });
      expect((await readAll(ledgers, 's')).map((event) => event.seq)).toEqual([1, 2, 3]);
    });

    test('keeps the order of batches that are sent without waiting', async ({ ledgers }) => {
      const { epoch } = await ledgers.claim('s', 'writer', { ttlMs: ttl });
      const sent = Array.from({ length: 50 }, (_, seq) =>
        ledgers.append('s', { seq, epoch }, { events: notes(seq, [`n${seq}`]) }),
      );
      expect((await Promise.all(sent)).map((receipt) => receipt.seq)).toEqual(
        Array.from({ length: 50 }, (_, i) => i + 1),
      );
      expect(await readTexts(ledgers, 's')).toEqual(Array.from({ length: 50 }, (_, i) => `n${i}`));
    });
  });
}

function headContract({ describe, expect, test }: Suite): void {
  describe('append', () => {
    test('refuses another head and writes nothing then', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a', 'b']);
      for (const seq of [0, 1, 3, 100]) {
        expect(
          await codeOf(ledgers.append('s', { seq, epoch: 1 }, { events: notes(seq, ['x']) })),
        ).toBe('ledger_conflict');
      }
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b']);
    });

    test('says in the error what was expected and what was found', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a', 'b']);
      const error = await errorOf(
        ledgers.append('s', { seq: 9, epoch: 1 }, { events: notes(9, ['x']) }),
      );
      expect(error).toMatchObject({
        data: { session: 's', expected: { seq: 9, epoch: 1 }, found: { seq: 2, epoch: 1 } },
      });
    });

    test('refuses an unknown session', async ({ ledgers }) => {
      expect(
        await codeOf(ledgers.append('s', { seq: 0, epoch: 1 }, { events: notes(0, ['x']) })),
      ).toBe('ledger_conflict');
      expect(await ledgers.head('s')).toBeUndefined();
    });
  });
}

function refusalContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('append of what cannot be', () => {
    test('refuses events that are not numbered from the head on', async ({ ledgers }) => {
      await ledgers.claim('s', 'writer', { ttlMs: ttl });
      const [first, , third] = notes(0, ['a', 'b', 'c']);
      for (const events of [[third], [first, third], notes(1, ['x'])]) {
        expect(
          await codeOf(ledgers.append('s', { seq: 0, epoch: 1 }, { events: events as never })),
        ).toBe('RangeError');
      }
      expect(await ledgers.head('s')).toEqual({ seq: 0, epoch: 1, inboxSeq: 0 });
    });

    test('refuses a writer without a claim', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a']);
      await ledgers.fork('s', 1, 'fork');
      expect(
        await codeOf(ledgers.append('fork', { seq: 1, epoch: 0 }, { events: notes(1, ['x']) })),
      ).toBe('RangeError');
    });

    test('takes a batch without events', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a']);
      expect(await writer.write([])).toMatchObject({ seq: 1, epoch: 1, inboxSeq: 0 });
    });
  });
}
