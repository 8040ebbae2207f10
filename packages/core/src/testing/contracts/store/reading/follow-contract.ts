import { codeOf, followUntil, numbered, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

/** Promise of `follow`: past events and then new ones, without gaps, until the signal aborts. */
export function followContract({ describe, expect, test }: Suite): void {
  describe('follow', () => {
    test('gives what is there and then what lands, without gaps', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(numbered(1, 3));
      const following = followUntil(ledgers, 's', 1, 'n8');
      for (let n = 4; n <= 8; n++) await writer.write([`n${n}`]);
      expect(await following).toEqual(numbered(2, 8));
    });

    test('is gap-free under concurrent appends, for followers from anywhere', async ({
      ledgers,
    }) => {
      const writer = await Writer.claim(ledgers, 's');
      const starts = [0, 1, 17, 99, 150, 299];
      const early = starts.map((after) => followUntil(ledgers, 's', after, 'n300'));
      const sent: Promise<unknown>[] = [];
      for (let n = 1; n <= 300; n += 3) {
        const texts = numbered(n, n + 2);
        if (n % 2 === 0) sent.push(writer.write(texts));
        else await writer.write(texts);
        await Promise.all(sent);
      }
      const late = starts.map((after) => followUntil(ledgers, 's', after, 'n300'));
      const expected = starts.map((after) => numbered(after + 1, 300));
      expect(await Promise.all(early)).toEqual(expected);
      expect(await Promise.all(late)).toEqual(expected);
    });

    test('ends when the signal aborts, also while it waits', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a']);
      const controller = new AbortController();
      const seen: number[] = [];
      for await (const event of ledgers.follow('s', 0, controller.signal)) {
        seen.push(event.seq);
        queueMicrotask(() => controller.abort());
      }
      expect(seen).toEqual([1]);
      for await (const event of ledgers.follow('s', 0, controller.signal)) seen.push(event.seq);
      expect(seen).toEqual([1]);
    });

    test('of a fork gives the prefix and then its own events', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(numbered(1, 3));
      await ledgers.fork('s', 2, 'fork');
      const following = followUntil(ledgers, 'fork', 0, 'n9');
      await (await Writer.claim(ledgers, 'fork')).write(['n9']);
      expect(await following).toEqual(['n1', 'n2', 'n9']);
    });

    test('of an unknown session fails', async ({ ledgers }) => {
      expect(await codeOf(followUntil(ledgers, 'unknown', 0, 'x'))).toBe('session_not_found');
    });
  });
}
