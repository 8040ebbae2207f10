import { codeOf, notes, readTexts, ttl } from '../harness.ts';
import type { Suite } from '../suite.ts';

/** Promise to a writer that lost the answer: it may send the same batch again. */
export function resendContract(suite: Suite): void {
  onceContract(suite);
  otherBatchContract(suite);
}

function onceContract({ describe, expect, test }: Suite): void {
  describe('the same batch sent again', () => {
    test('succeeds with the same answer and is not written twice', async ({ ledgers }) => {
      await ledgers.claim('s', 'writer', { ttlMs: ttl });
      const batch = { events: notes(0, ['a', 'b']) };
      const { seq, epoch, inboxSeq } = await ledgers.append('s', { seq: 0, epoch: 1 }, batch);
      expect(await ledgers.append('s', { seq: 0, epoch: 1 }, batch)).toMatchObject({
        seq,
        epoch,
        inboxSeq,
      });
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b']);
    });

    test('succeeds also when later batches have landed', async ({ ledgers }) => {
      await ledgers.claim('s', 'writer', { ttlMs: ttl });
      const batch = { events: notes(0, ['a', 'b']) };
      await ledgers.append('s', { seq: 0, epoch: 1 }, batch);
      await ledgers.append('s', { seq: 2, epoch: 1 }, { events: notes(2, ['c']) });
      expect((await ledgers.append('s', { seq: 0, epoch: 1 }, batch)).seq).toBe(2);
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b', 'c']);
    });

    test('does not apply its shared writes twice', async ({ ledgers }) => {
      await ledgers.claim('s', 'writer', { ttlMs: ttl });
      const batch = {
        events: notes(0, ['a']),
        shared: [{ scope: 'user', scopeId: '1', key: 'n', value: 1, baseVersion: 0 }],
      };
      await ledgers.append('s', { seq: 0, epoch: 1 }, batch);
      await ledgers.append('s', { seq: 0, epoch: 1 }, batch);
      expect(await ledgers.readShared('user', '1')).toEqual({ n: { value: 1, version: 1 } });
    });
  });
}

function otherBatchContract({ describe, expect, test }: Suite): void {
  describe('the same batch sent again', () => {
    test('a batch that is only partly in the ledger is another batch', async ({ ledgers }) => {
      await ledgers.claim('s', 'writer', { ttlMs: ttl });
      const [a, b] = notes(0, ['a', 'b']);
      await ledgers.append('s', { seq: 0, epoch: 1 }, { events: [a as never] });
      expect(
        await codeOf(
          ledgers.append('s', { seq: 0, epoch: 1 }, { events: [a as never, b as never] }),
        ),
      ).toBe('ledger_conflict');
      const other = notes(0, ['a']);
      expect(await codeOf(ledgers.append('s', { seq: 0, epoch: 1 }, { events: other }))).toBe(
        'ledger_conflict',
      );
      expect(await readTexts(ledgers, 's')).toEqual(['a']);
    });

    test('is refused when another writer has claimed the ledger in between', async ({
      ledgers,
    }) => {
      await ledgers.claim('s', 'writer', { ttlMs: ttl });
      const batch = { events: notes(0, ['a']) };
      await ledgers.append('s', { seq: 0, epoch: 1 }, batch);
      await ledgers.claim('s', 'other', { ttlMs: ttl, force: true });
      expect(await codeOf(ledgers.append('s', { seq: 0, epoch: 1 }, batch))).toBe(
        'ledger_conflict',
      );
    });
  });
}
