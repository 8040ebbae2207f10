import { codeOf, ttl, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

/** Promise to readers and followers of a deleted session: an error, and no events of another. */
export function deletedReaderContract({ describe, expect, test }: Suite): void {
  describe('who reads a session that is deleted', () => {
    test('and follows it learns that it is gone', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a']);
      const follower = ledgers.follow('s', 0, new AbortController().signal)[Symbol.asyncIterator]();
      expect((await follower.next()).value).toMatchObject({ seq: 1 });
      const next = codeOf(follower.next());
      await ledgers.delete('s');
      expect(await next).toBe('session_not_found');
    });

    test('and follows it gets nothing of another session with its id', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a']);
      const follower = ledgers.follow('s', 0, new AbortController().signal)[Symbol.asyncIterator]();
      expect((await follower.next()).value).toMatchObject({ seq: 1 });
      await ledgers.delete('s');
      await (await Writer.claim(ledgers, 's')).write(['x', 'y', 'z']);
      expect(await codeOf(follower.next())).toBe('session_not_found');
    });

    test('and waits for more gets nothing of another session with its id either', async ({
      ledgers,
    }) => {
      await (await Writer.claim(ledgers, 's')).write(['a']);
      const follower = ledgers.follow('s', 0, new AbortController().signal)[Symbol.asyncIterator]();
      expect((await follower.next()).value).toMatchObject({ seq: 1 });
      const next = codeOf(follower.next());
      // The id is in use again before the follower can read.
      await Promise.all([
        ledgers.delete('s'),
        ledgers.claim('s', 'other', { ttlMs: ttl, force: true }),
      ]);
      await (await Writer.claim(ledgers, 's')).write(['x', 'y', 'z']);
      expect(await next).toBe('session_not_found');
    });

    test('page by page is not told that it has ended', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(
        Array.from({ length: 6_000 }, (_, i) => `n${i}`),
      );
      const pages = ledgers.read('s')[Symbol.asyncIterator]();
      expect((await pages.next()).done).toBe(false);
      await ledgers.delete('s');
      await (await Writer.claim(ledgers, 's')).write(
        Array.from({ length: 6_000 }, (_, i) => `other ${i}`),
      );
      const rest = async (): Promise<readonly unknown[]> => {
        const texts: unknown[] = [];
        for (let page = await pages.next(); page.done !== true; page = await pages.next()) {
          texts.push(
            ...page.value.map((event) => (event.type === 'user' ? event.text : event.type)),
          );
        }
        return texts;
      };
      expect(await codeOf(rest())).toBe('session_not_found');
    });
  });
}
