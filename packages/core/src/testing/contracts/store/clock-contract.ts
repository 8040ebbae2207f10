import { inboxItem, ttl, Writer } from './harness.ts';
import type { Suite } from './suite.ts';

/**
 * Defines the rules of the store's clock. Durable times are made and judged by it, in processes
 * whose own clocks differ.
 */
export function clockContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('the clock of the store', () => {
    test('is told by every receipt, and never falls', async ({ ledgers }) => {
      const told = [await ledgers.now()];
      const writer = await Writer.claim(ledgers, 's');
      told.push(writer.claim.now);
      told.push((await writer.write(['a'])).now);
      told.push((await ledgers.append('s', writer.head, { events: [] })).now);
      told.push((await ledgers.post('s', inboxItem('k'))).now);
      told.push((await ledgers.post('s', inboxItem('k'))).now);
      told.push((await ledgers.renew(writer.claim)).now);
      told.push((await ledgers.release(writer.claim, { inboxSeq: 0 })).now);
      told.push((await ledgers.release(writer.claim)).now);
      told.push((await ledgers.release({ ...writer.claim, session: 'unknown' })).now);
      told.push(await ledgers.now());
      expect(told.filter((now) => Number.isSafeInteger(now))).toHaveLength(told.length);
      expect([...told].sort((left, right) => left - right)).toEqual(told);
    });

    test('is what leases go by', async ({ ledgers }) => {
      const { now, until } = await ledgers.claim('s', 'a', { ttlMs: ttl });
      expect(until - now).toBe(ttl);
    });

    test('goes on as time passes', async ({ ledgers, advance }) => {
      const before = await ledgers.now();
      advance(5_000);
      expect((await ledgers.now()) - before).toBeGreaterThan(4_999);
      expect((await ledgers.claim('s', 'a', { ttlMs: ttl })).now - before).toBeGreaterThan(4_999);
    });
  });
}
