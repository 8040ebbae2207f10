import { defined } from '../../../../base/defined.ts';
import type { RequestFilter, RequestRow } from '../../../../ledger/port.ts';
import { answerItem, codeOf, longAgo, pendingRequest, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

/** Promise of the list of requests: its filters, its order and its pages. */
export function requestListContract(suite: Suite): void {
  filterContract(suite);
  pageContract(suite);
}

function filterContract({ describe, expect, test }: Suite): void {
  describe('a list of requests', () => {
    test('holds those that were asked for', async ({ ledgers }) => {
      const first = await Writer.claim(ledgers, 's');
      const second = await Writer.claim(ledgers, 't');
      await first.write(['a'], {
        requests: [
          pendingRequest('s', 'q1', { user: '1' }),
          pendingRequest('s', 'q2', { user: '2', kind: 'input' }),
        ],
      });
      await second.write(['b'], {
        requests: [pendingRequest('t', 'q3', { user: '1', kind: 'result', operationId: 'op' })],
      });
      await ledgers.post('s', answerItem('q2'));
      const found = async (filter: RequestFilter): Promise<readonly string[]> =>
        (await ledgers.requests(filter)).map(({ requestId }) => requestId).sort();
      expect(await found({})).toEqual(['q1', 'q2', 'q3']);
      expect(await found({ session: 's' })).toEqual(['q1', 'q2']);
      expect(await found({ session: 'unknown' })).toEqual([]);
      expect(await found({ user: '1' })).toEqual(['q1', 'q3']);
      expect(await found({ status: 'pending' })).toEqual(['q1', 'q3']);
      expect(await found({ status: 'answered' })).toEqual(['q2']);
      expect(await found({ kinds: ['input', 'result'] })).toEqual(['q2', 'q3']);
      expect(await found({ kinds: [] })).toEqual([]);
      expect(await found({ requestId: 'q2' })).toEqual(['q2']);
      expect(await found({ operationId: 'op' })).toEqual(['q3']);
      expect(
        await found({ status: 'pending', user: '1', session: 's', kinds: ['approval'] }),
      ).toEqual(['q1']);
    });
  });
}

function pageContract({ describe, expect, test }: Suite): void {
  describe('a list of requests', () => {
    test(
      'is in the order in which they were made, in pages that leave none out, also at equal ' +
        'times',
      async ({ ledgers }) => {
        const writer = await Writer.claim(ledgers, 's');
        const requests = Array.from({ length: 11 }, (_, i) =>
          pendingRequest('s', `q${(i * 7) % 11}`, { createdAt: longAgo + Math.floor(i / 4) }),
        );
        await writer.write(['a'], { requests: requests.toReversed() });
        const whole = await ledgers.requests();
        expect(whole.map(({ createdAt }) => createdAt)).toEqual(
          requests.map(({ createdAt }) => createdAt),
        );
        for (const filter of [{}, { status: 'pending' as const }]) {
          const paged: RequestRow[] = [];
          for (;;) {
            const after = paged.at(-1);
            const page = await ledgers.requests({
              ...filter,
              limit: 3,
              ...defined({ after }),
            });
            paged.push(...page);
            if (page.length < 3) break;
          }
          expect(paged).toEqual(whole);
        }
      },
    );

    test('refuses a limit that is none', async ({ ledgers }) => {
      for (const limit of [0, -1, 1.5])
        expect(await codeOf(ledgers.requests({ limit }))).toBe('RangeError');
    });
  });
}
