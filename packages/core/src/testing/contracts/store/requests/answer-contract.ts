import { answerItem, codeOf, errorOf, inboxItem, pendingRequest, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

/** Promise of an answer: the first one settles its request, and is posted with it. */
export function answerContract(suite: Suite): void {
  firstAnswerContract(suite);
  repeatedAnswerContract(suite);
  strayAnswerContract(suite);
}

function firstAnswerContract({ describe, expect, test }: Suite): void {
  describe('an answer', () => {
    test('settles its request and waits for the writer', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { requests: [pendingRequest('s', 'q')] });
      expect(await ledgers.post('s', answerItem('q'))).toMatchObject({
        inboxSeq: 1,
        duplicate: false,
      });
      const [row] = await ledgers.requests();
      expect(row).toMatchObject({ status: 'answered', settledBy: 'user:42' });
      expect(typeof row?.settledAt).toBe('number');
      expect(await ledgers.inbox('s')).toEqual([{ ...answerItem('q'), position: 1 }]);
      await writer.write(['answered'], { consumes: [1] });
      expect(await ledgers.requests({ status: 'answered' })).toHaveLength(1);
    });

    test('that comes second is refused, with who was first', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a'], {
        requests: [pendingRequest('s', 'q')],
      });
      await ledgers.post('s', answerItem('q', 'first', 'user:1'));
      const error = await errorOf(ledgers.post('s', answerItem('q', 'second', 'user:2')));
      expect(error).toMatchObject({
        code: 'request_settled',
        data: { requestId: 'q', status: 'answered', by: 'user:1' },
      });
      expect((await ledgers.inbox('s')).map(({ key }) => key)).toEqual(['first']);
      expect(await ledgers.head('s')).toMatchObject({ inboxSeq: 1 });
    });
  });
}

function repeatedAnswerContract({ describe, expect, test }: Suite): void {
  describe('an answer', () => {
    test('that is posted again is the same answer, also after it was consumed', async ({
      ledgers,
    }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { requests: [pendingRequest('s', 'q')] });
      await ledgers.post('s', answerItem('q', 'key'));
      expect(await ledgers.post('s', answerItem('q', 'key'))).toMatchObject({
        inboxSeq: 1,
        duplicate: true,
      });
      await writer.write(['b'], { consumes: [1] });
      expect(await ledgers.post('s', answerItem('q', 'key'))).toMatchObject({
        inboxSeq: 1,
        duplicate: true,
      });
    });
  });
}

function strayAnswerContract({ describe, expect, test }: Suite): void {
  describe('an answer', () => {
    test('to what nobody asked is refused', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a'], {
        requests: [pendingRequest('s', 'q')],
      });
      await Writer.claim(ledgers, 't');
      expect(await codeOf(ledgers.post('s', answerItem('unknown')))).toBe('request_not_found');
      expect(await codeOf(ledgers.post('t', answerItem('q')))).toBe('request_not_found');
      expect(await codeOf(ledgers.post('nowhere', answerItem('q')))).toBe('session_not_found');
      expect(await ledgers.inbox('t')).toEqual([]);
      expect(await ledgers.requests({ status: 'pending' })).toHaveLength(1);
      // The refused append did not use up the key.
      expect(await ledgers.post('t', { ...inboxItem('q'), type: 'pause' })).toMatchObject({
        duplicate: false,
      });
    });
  });
}
