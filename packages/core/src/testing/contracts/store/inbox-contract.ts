import { codeOf, inboxItem, readTexts, ttl, Writer } from './harness.ts';
import type { Suite } from './suite.ts';

/** Promise of the inbox: an item is kept once, until the append that consumes it. */
export function inboxContract(suite: Suite): void {
  orderContract(suite);
  keyContract(suite);
  consumeContract(suite);
  sessionContract(suite);
}

function orderContract({ describe, expect, test }: Suite): void {
  describe('inbox', () => {
    test('keeps what is posted, control lane first, then in order of posting', async ({
      ledgers,
    }) => {
      await ledgers.claim('s', 'writer', { ttlMs: ttl });
      const data = { text: 'Grüße', parts: [1, null, { deep: true }] };
      await ledgers.post('s', inboxItem('a', 'input', data));
      await ledgers.post('s', inboxItem('b', 'control'));
      await ledgers.post('s', inboxItem('c', 'input'));
      await ledgers.post('s', inboxItem('d', 'control'));
      const entries = await ledgers.inbox('s');
      expect(entries.map(({ key, position }) => `${key}${position}`)).toEqual([
        'b2',
        'd4',
        'a1',
        'c3',
      ]);
      expect(entries[2]).toEqual({ ...inboxItem('a', 'input', data), position: 1 });
    });

    test('tells the writer that something waits, by its next append and by the head', async ({
      ledgers,
    }) => {
      const writer = await Writer.claim(ledgers, 's');
      expect(await ledgers.post('s', inboxItem('a'))).toMatchObject({
        inboxSeq: 1,
        duplicate: false,
      });
      expect(await writer.write(['x'])).toMatchObject({ inboxSeq: 1 });
      expect(await ledgers.post('s', inboxItem('b'))).toMatchObject({
        inboxSeq: 2,
        duplicate: false,
      });
      expect(await ledgers.head('s')).toMatchObject({ inboxSeq: 2 });
    });
  });
}

function keyContract({ describe, expect, test }: Suite): void {
  describe('inbox', () => {
    test('takes an item once by its key', async ({ ledgers }) => {
      await ledgers.claim('s', 'writer', { ttlMs: ttl });
      await ledgers.post('s', inboxItem('a'));
      expect(await ledgers.post('s', inboxItem('a', 'control'))).toMatchObject({
        inboxSeq: 1,
        duplicate: true,
      });
      expect(await ledgers.inbox('s')).toHaveLength(1);
    });

    test('takes an item once also after it was consumed', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await ledgers.post('s', inboxItem('a'));
      await writer.write(['a'], { consumes: [1] });
      expect(await ledgers.post('s', inboxItem('a'))).toMatchObject({
        inboxSeq: 1,
        duplicate: true,
      });
      expect(await ledgers.inbox('s')).toEqual([]);
    });

    test('keys of one session are free in another', async ({ ledgers }) => {
      await ledgers.claim('s', 'writer', { ttlMs: ttl });
      await ledgers.claim('t', 'writer', { ttlMs: ttl });
      await ledgers.post('s', inboxItem('a'));
      expect(await ledgers.post('t', inboxItem('a'))).toMatchObject({ duplicate: false });
    });
  });
}

function consumeContract({ describe, expect, test }: Suite): void {
  describe('inbox and writer', () => {
    test('is emptied with the append that answers, whatever the order', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      for (const key of ['a', 'b', 'c']) await ledgers.post('s', inboxItem(key));
      await writer.write(['b'], { consumes: [2] });
      expect((await ledgers.inbox('s')).map(({ key }) => key)).toEqual(['a', 'c']);
      await writer.write([], { consumes: [3, 1] });
      await writer.write([], { consumes: [3, 1] });
      expect(await ledgers.inbox('s')).toEqual([]);
    });

    test('keeps the item when the append that answers it is refused', async ({ ledgers }) => {
      const fenced = await Writer.claim(ledgers, 's');
      await ledgers.post('s', inboxItem('a'));
      await Writer.claim(ledgers, 's', 'other');
      expect(await codeOf(fenced.write(['a'], { consumes: [1] }))).toBe('ledger_conflict');
      expect(await ledgers.inbox('s')).toHaveLength(1);
    });

    test('never conflicts with the writer', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      const posts = Array.from({ length: 30 }, (_, i) => ledgers.post('s', inboxItem(`item ${i}`)));
      for (let i = 0; i < 10; i++) await writer.write([`event ${i}`]);
      await Promise.all(posts);
      expect(await readTexts(ledgers, 's')).toHaveLength(10);
      expect((await ledgers.inbox('s')).map(({ position }) => position)).toEqual(
        Array.from({ length: 30 }, (_, i) => i + 1),
      );
    });
  });
}

function sessionContract({ describe, expect, test }: Suite): void {
  describe('inbox and writer', () => {
    test('takes items for a ledger that nobody holds', async ({ ledgers }) => {
      await ledgers.release(await ledgers.claim('s', 'writer', { ttlMs: ttl }));
      expect(await ledgers.post('s', inboxItem('a'))).toMatchObject({ inboxSeq: 1 });
    });

    test('of an unknown session does not exist', async ({ ledgers }) => {
      expect(await codeOf(ledgers.post('s', inboxItem('a')))).toBe('session_not_found');
      expect(await codeOf(ledgers.inbox('s'))).toBe('session_not_found');
    });
  });
}
