import { codeOf, inboxItem, notes, readAll, readTexts, ttl, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

/**
 * Promise of `fork`: a new session with the prefix of another, which can begin with events of its
 * own.
 */
export function forkContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('fork', () => {
    test('shares the prefix and nothing that comes later, in both directions', async ({
      ledgers,
    }) => {
      const origin = await Writer.claim(ledgers, 's');
      await origin.write(['a', 'b', 'c']);
      await ledgers.fork('s', 2, 'fork');
      const fork = await Writer.claim(ledgers, 'fork');
      expect(fork.claim).toMatchObject({ epoch: 1, seq: 2, inboxSeq: 0 });
      await fork.write(['x', 'y']);
      await origin.write(['d']);
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b', 'c', 'd']);
      expect(await readTexts(ledgers, 'fork')).toEqual(['a', 'b', 'x', 'y']);
      expect(await readTexts(ledgers, 'fork', { after: 1, upTo: 3 })).toEqual(['b', 'x']);
    });

    test('can be forked again, before and after its own beginning', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b', 'c']);
      await ledgers.fork('s', 2, 'f1');
      await (await Writer.claim(ledgers, 'f1')).write(['x', 'y']);
      await ledgers.fork('f1', 3, 'f2');
      await (await Writer.claim(ledgers, 'f2')).write(['p', 'q']);
      await ledgers.fork('f2', 1, 'f3');
      await (await Writer.claim(ledgers, 'f3')).write(['z']);
      await ledgers.fork('f2', 4, 'f4');
      expect(await readTexts(ledgers, 'f2')).toEqual(['a', 'b', 'x', 'p', 'q']);
      expect(await readTexts(ledgers, 'f3')).toEqual(['a', 'z']);
      expect(await readTexts(ledgers, 'f4')).toEqual(['a', 'b', 'x', 'p']);
      for (let after = 0; after < 5; after++) {
        expect(await readTexts(ledgers, 'f2', { after })).toEqual(
          ['a', 'b', 'x', 'p', 'q'].slice(after),
        );
      }
    });
  });
  forkEdgeContract(suite);
  forkFirstContract(suite);
}

function forkEdgeContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('fork at the edges', () => {
    test('works at both ends of the ledger', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b']);
      await ledgers.fork('s', 0, 'empty');
      await ledgers.fork('s', 2, 'whole');
      expect(await ledgers.head('empty')).toEqual({ seq: 0, epoch: 0, inboxSeq: 0 });
      expect(await readTexts(ledgers, 'empty')).toEqual([]);
      expect(await readTexts(ledgers, 'whole')).toEqual(['a', 'b']);
      await (await Writer.claim(ledgers, 'empty')).write(['x']);
      expect(await readTexts(ledgers, 'empty')).toEqual(['x']);
    });

    test('inherits no lease, no inbox and no keys', async ({ ledgers }) => {
      const origin = await Writer.claim(ledgers, 's');
      await origin.write(['a']);
      await ledgers.post('s', inboxItem('k'));
      await ledgers.fork('s', 1, 'fork');
      expect(await ledgers.inbox('fork')).toEqual([]);
      expect(await ledgers.post('fork', inboxItem('k'))).toMatchObject({
        inboxSeq: 1,
        duplicate: false,
      });
      expect(await ledgers.claim('fork', 'other', { ttlMs: ttl })).toMatchObject({ epoch: 1 });
      expect((await origin.write(['b'])).seq).toBe(2);
    });

    test('refuses what cannot be forked', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b']);
      expect(await codeOf(ledgers.fork('unknown', 0, 'f'))).toBe('session_not_found');
      expect(await codeOf(ledgers.fork('s', 1, 's'))).toBe('session_exists');
      for (const atSeq of [3, -1, 0.5, Number.NaN])
        expect(await codeOf(ledgers.fork('s', atSeq, 'f'))).toBe('RangeError');
      expect(await ledgers.head('f')).toBeUndefined();
    });
  });
}

function forkFirstContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('fork with first events', () => {
    test('has them after the prefix, and nobody has claimed it yet', async ({ ledgers }) => {
      const origin = await Writer.claim(ledgers, 's');
      await origin.write(['a', 'b', 'c']);
      const first = notes(2, ['x', 'y']);
      await ledgers.fork('s', 2, 'fork', first);
      expect(await ledgers.head('fork')).toEqual({ seq: 4, epoch: 0, inboxSeq: 0 });
      expect((await readAll(ledgers, 'fork')).slice(2)).toEqual(first);
      expect((await ledgers.list()).find(({ id }) => id === 'fork')).toMatchObject({
        seq: 4,
        updatedAt: first.at(-1)?.at,
      });
      const fork = await Writer.claim(ledgers, 'fork');
      expect(fork.claim).toMatchObject({ epoch: 1, seq: 4 });
      await fork.write(['z']);
      await origin.write(['d']);
      expect(await readTexts(ledgers, 'fork')).toEqual(['a', 'b', 'x', 'y', 'z']);
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b', 'c', 'd']);
    });

    test('can be forked again, before and after them', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b']);
      await ledgers.fork('s', 2, 'f1', notes(2, ['x']));
      await ledgers.fork('f1', 3, 'f2', notes(3, ['y']));
      await ledgers.fork('f1', 2, 'f3', notes(2, ['z']));
      await ledgers.fork('f1', 0, 'f4', notes(0, ['q']));
      expect(await readTexts(ledgers, 'f2')).toEqual(['a', 'b', 'x', 'y']);
      expect(await readTexts(ledgers, 'f3')).toEqual(['a', 'b', 'z']);
      expect(await readTexts(ledgers, 'f4')).toEqual(['q']);
    });

    test('is made whole or not at all', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b']);
      await (await Writer.claim(ledgers, 't')).write(['c']);
      expect(await codeOf(ledgers.fork('s', 1, 'f', notes(2, ['x'])))).toBe('RangeError');
      expect(await codeOf(ledgers.fork('s', 3, 'f', notes(3, ['x'])))).toBe('RangeError');
      expect(await codeOf(ledgers.fork('unknown', 0, 'f', notes(0, ['x'])))).toBe(
        'session_not_found',
      );
      expect(await ledgers.head('f')).toBeUndefined();
      expect(await codeOf(ledgers.fork('s', 1, 't', notes(1, ['x'])))).toBe('session_exists');
      expect(await readTexts(ledgers, 't')).toEqual(['c']);
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b']);
    });

    test('goes without a trace when it is deleted, and its prefix stays', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b']);
      await ledgers.fork('s', 1, 'fork', notes(1, ['x']));
      await ledgers.delete('fork');
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b']);
      await ledgers.fork('s', 2, 'fork', notes(2, ['y']));
      expect(await readTexts(ledgers, 'fork')).toEqual(['a', 'b', 'y']);
    });
  });
}
