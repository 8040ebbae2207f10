import { codeOf, readAll, Writer } from './harness.ts';
import type { Suite } from './suite.ts';

/** Promise of `close`: work under way ends first, and later use fails. */
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
