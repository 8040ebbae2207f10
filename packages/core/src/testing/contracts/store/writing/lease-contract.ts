import { codeOf, ttl, Writer, wakeItem } from '../harness.ts';
import type { Suite } from '../suite.ts';

/** Promise of the lease: it ends after its time, and its owner can prolong it or release it. */
export function leaseContract(suite: Suite): void {
  endContract(suite);
  renewalContract(suite);
  releaseContract(suite);
  unseenItemContract(suite);
}

function endContract({ describe, expect, test }: Suite): void {
  describe('lease', () => {
    test('ends after its time', async ({ ledgers, advance }) => {
      await ledgers.claim('s', 'a', { ttlMs: 1_000 });
      advance(999);
      expect(await codeOf(ledgers.claim('s', 'b', { ttlMs: ttl }))).toBe('session_busy');
      advance(1);
      expect(await ledgers.claim('s', 'b', { ttlMs: ttl })).toMatchObject({ owner: 'b', epoch: 2 });
    });

    test('that has ended does not fence its owner until somebody claims', async ({
      ledgers,
      advance,
    }) => {
      const writer = await Writer.claim(ledgers, 's', 'a');
      advance(ttl + 1);
      expect((await writer.write(['still here'])).seq).toBe(1);
      expect(await codeOf(ledgers.claim('s', 'b', { ttlMs: ttl }))).toBe('session_busy');
    });
  });
}

function renewalContract({ describe, expect, test }: Suite): void {
  describe('lease', () => {
    test('is prolonged by appends', async ({ ledgers, advance }) => {
      const writer = await Writer.claim(ledgers, 's', 'a');
      advance(ttl - 1);
      await writer.write(['a']);
      advance(ttl - 1);
      expect(await codeOf(ledgers.claim('s', 'b', { ttlMs: ttl }))).toBe('session_busy');
      advance(1);
      expect(await codeOf(ledgers.claim('s', 'b', { ttlMs: ttl }))).toBe('resolved');
    });

    test('is prolonged by renew, which tells where the ledger ends', async ({
      ledgers,
      advance,
    }) => {
      const writer = await Writer.claim(ledgers, 's', 'a');
      await writer.write(['a']);
      await ledgers.post('s', wakeItem);
      advance(ttl - 1);
      expect(await ledgers.renew(writer.claim)).toMatchObject({ seq: 1, epoch: 1, inboxSeq: 1 });
      advance(ttl - 1);
      expect(await codeOf(ledgers.claim('s', 'b', { ttlMs: ttl }))).toBe('session_busy');
    });

    test('cannot be renewed by one who was fenced or never held it', async ({ ledgers }) => {
      const fenced = await ledgers.claim('s', 'a', { ttlMs: ttl });
      await ledgers.claim('s', 'b', { ttlMs: ttl, force: true });
      expect(await codeOf(ledgers.renew(fenced))).toBe('ledger_conflict');
      expect(await codeOf(ledgers.renew({ ...fenced, session: 'unknown' }))).toBe(
        'ledger_conflict',
      );
    });
  });
}

function releaseContract({ describe, expect, test }: Suite): void {
  describe('a lease', () => {
    test('that was given back is free at once', async ({ ledgers }) => {
      const claim = await ledgers.claim('s', 'a', { ttlMs: ttl });
      await ledgers.release(claim);
      expect(await ledgers.claim('s', 'b', { ttlMs: ttl })).toMatchObject({ owner: 'b', epoch: 2 });
    });

    test('of another owner is not given back by one who was fenced', async ({ ledgers }) => {
      const fenced = await ledgers.claim('s', 'a', { ttlMs: ttl });
      await ledgers.claim('s', 'b', { ttlMs: ttl, force: true });
      expect(await ledgers.release(fenced, { inboxSeq: -1 })).toMatchObject({
        released: true,
        inboxSeq: 0,
      });
      expect(await ledgers.release({ ...fenced, session: 'unknown' })).toMatchObject({
        released: true,
        inboxSeq: 0,
      });
      expect(await codeOf(ledgers.claim('s', 'c', { ttlMs: ttl }))).toBe('session_busy');
    });
  });
}

function unseenItemContract({ describe, expect, test }: Suite): void {
  describe('a lease', () => {
    test('is kept while something was posted that its owner has not seen', async ({ ledgers }) => {
      const claim = await ledgers.claim('s', 'a', { ttlMs: ttl });
      expect(await ledgers.release(claim, { inboxSeq: 0 })).toMatchObject({
        released: true,
        inboxSeq: 0,
      });
      const again = await ledgers.claim('s', 'a', { ttlMs: ttl });
      await ledgers.post('s', wakeItem);
      expect(await ledgers.release(again, { inboxSeq: again.inboxSeq })).toMatchObject({
        released: false,
        inboxSeq: 1,
      });
      expect(await codeOf(ledgers.claim('s', 'b', { ttlMs: ttl }))).toBe('session_busy');
      expect(await ledgers.release(again, { inboxSeq: 1 })).toMatchObject({
        released: true,
        inboxSeq: 1,
      });
      expect(await ledgers.claim('s', 'b', { ttlMs: ttl })).toMatchObject({
        owner: 'b',
        epoch: 3,
        inboxSeq: 1,
      });
    });

    test('is given back whatever was posted when its owner does not ask', async ({ ledgers }) => {
      const claim = await ledgers.claim('s', 'a', { ttlMs: ttl });
      await ledgers.post('s', wakeItem);
      expect(await ledgers.release(claim)).toMatchObject({ released: true, inboxSeq: 1 });
      expect(await ledgers.claim('s', 'b', { ttlMs: ttl })).toMatchObject({ owner: 'b', epoch: 2 });
    });
  });
}
