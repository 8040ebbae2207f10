import { codeOf, errorOf, ttl, Writer, wakeItem } from '../harness.ts';
import { withOtherProcess } from '../other-process.ts';
import type { Suite } from '../suite.ts';

/** Promise of `claim`: a ledger has at most one owner, and each claim begins a new epoch. */
export function claimContract(suite: Suite): void {
  claimedHeadContract(suite);
  exclusionContract(suite);
  takeoverContract(suite);
}

function claimedHeadContract({ describe, expect, test }: Suite): void {
  describe('claim', () => {
    test('brings the ledger into being', async ({ ledgers }) => {
      expect(await ledgers.head('s')).toBeUndefined();
      expect(await ledgers.claim('s', 'a', { ttlMs: ttl })).toMatchObject({
        session: 's',
        owner: 'a',
        epoch: 1,
        seq: 0,
        inboxSeq: 0,
      });
      expect(await ledgers.head('s')).toEqual({ seq: 0, epoch: 1, inboxSeq: 0 });
    });

    test('tells where the ledger ends', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b']);
      await ledgers.post('s', wakeItem);
      expect(await ledgers.claim('s', 'writer', { ttlMs: ttl })).toMatchObject({
        epoch: 2,
        seq: 2,
        inboxSeq: 1,
      });
    });
  });
}

function exclusionContract({ describe, expect, test }: Suite): void {
  describe('claim', () => {
    test('is refused while the lease of another owner is live, with that owner and time', async ({
      ledgers,
    }) => {
      const held = await ledgers.claim('s', 'a', { ttlMs: ttl });
      const error = await errorOf(ledgers.claim('s', 'b', { ttlMs: ttl }));
      expect(error).toMatchObject({
        code: 'session_busy',
        data: { session: 's', owner: 'a', until: held.until },
      });
      expect(await ledgers.head('s')).toMatchObject({ epoch: 1 });
    });

    test('of many at once is given to exactly one', async ({ ledgers }) => {
      const codes = await Promise.all(
        ['a', 'b', 'c', 'd'].map((owner) => codeOf(ledgers.claim('s', owner, { ttlMs: ttl }))),
      );
      expect(codes.sort()).toEqual(['resolved', 'session_busy', 'session_busy', 'session_busy']);
    });
  });
}

function takeoverContract({ describe, expect, test }: Suite): void {
  describe('claim', () => {
    test('of the same owner succeeds and fences its former self', async ({ ledgers }) => {
      const before = await Writer.claim(ledgers, 's', 'a');
      expect(await ledgers.claim('s', 'a', { ttlMs: ttl })).toMatchObject({ epoch: 2 });
      expect(await codeOf(before.write(['x']))).toBe('ledger_conflict');
    });

    test('takes over when forced', async ({ ledgers }) => {
      await ledgers.claim('s', 'a', { ttlMs: ttl });
      expect(await ledgers.claim('s', 'b', { ttlMs: ttl, force: true })).toMatchObject({
        owner: 'b',
        epoch: 2,
      });
    });

    test('takes over from a process of this machine that no longer exists', async ({ ledgers }) => {
      await withOtherProcess(async ({ owner, kill }) => {
        await ledgers.claim('s', owner, { ttlMs: ttl });
        expect(await codeOf(ledgers.claim('s', 'b', { ttlMs: ttl }))).toBe('session_busy');
        await kill();
        expect(await ledgers.claim('s', 'b', { ttlMs: ttl })).toMatchObject({
          owner: 'b',
          epoch: 2,
        });
      });
    });
  });
}
