import { answerItem, codeOf, errorOf, longAgo, pendingRequest, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

const by = 'runtime';

/** Promise of settling: a request is settled once, by an answer, its time or its writer. */
export function settlingContract(suite: Suite): void {
  expiryContract(suite);
  settleContract(suite);
  batchContract(suite);
  raceContract(suite);
}

function expiryContract({ describe, expect, test }: Suite): void {
  describe('a request whose time is over', () => {
    test('cannot be answered, and stays pending until its writer settles it', async ({
      ledgers,
    }) => {
      await (await Writer.claim(ledgers, 's')).write(['a'], {
        requests: [pendingRequest('s', 'q', { expiresAt: longAgo })],
      });
      const error = await errorOf(ledgers.post('s', answerItem('q')));
      expect(error).toMatchObject({
        code: 'request_settled',
        data: { requestId: 'q', status: 'expired' },
      });
      expect(await ledgers.requests()).toMatchObject([{ status: 'pending' }]);
      expect(await ledgers.inbox('s')).toEqual([]);
      await ledgers.settle('s', { requestId: 'q', status: 'expired', by: 'runtime' });
      expect(await ledgers.requests()).toMatchObject([{ status: 'expired', settledBy: 'runtime' }]);
      expect(await errorOf(ledgers.post('s', answerItem('q')))).toMatchObject({
        data: { status: 'expired', by: 'runtime' },
      });
    });

    test('is judged by the clock of the store', async ({ ledgers, advance }) => {
      const { until } = await ledgers.claim('s', 'writer', { ttlMs: 1_000 });
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], {
        requests: ['q1', 'q2'].map((id) => pendingRequest('s', id, { expiresAt: until })),
      });
      advance(999);
      expect(await codeOf(ledgers.post('s', answerItem('q1')))).toBe('resolved');
      advance(1);
      expect(await codeOf(ledgers.post('s', answerItem('q2')))).toBe('request_settled');
    });
  });
}

function settleContract({ describe, expect, test }: Suite): void {
  describe('a request that its writer settles', () => {
    test('is settled once; again in the same way is no error, in another way it is', async ({
      ledgers,
    }) => {
      await (await Writer.claim(ledgers, 's')).write(['a'], {
        requests: [pendingRequest('s', 'q')],
      });
      await ledgers.settle('s', { requestId: 'q', status: 'escalated', by });
      await ledgers.settle('s', { requestId: 'q', status: 'escalated', by: 'operator' });
      expect(await ledgers.requests()).toMatchObject([{ status: 'escalated', settledBy: by }]);
      const error = await errorOf(ledgers.settle('s', { requestId: 'q', status: 'cancelled', by }));
      expect(error).toMatchObject({
        code: 'request_settled',
        data: { requestId: 'q', status: 'escalated', by },
      });
      expect(await codeOf(ledgers.post('s', answerItem('q')))).toBe('request_settled');
    });

    test('must be one of its session', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a'], {
        requests: [pendingRequest('s', 'q')],
      });
      await Writer.claim(ledgers, 't');
      for (const [session, requestId] of [
        ['t', 'q'],
        ['s', 'unknown'],
        ['nowhere', 'q'],
      ] as const) {
        expect(await codeOf(ledgers.settle(session, { requestId, status: 'cancelled', by }))).toBe(
          'request_not_found',
        );
      }
    });
  });
}

function batchContract({ describe, expect, test }: Suite): void {
  describe('a request that its writer settles', () => {
    test('may be settled by an append, which leaves those that are settled already', async ({
      ledgers,
    }) => {
      const writer = await Writer.claim(ledgers, 's');
      const other = await Writer.claim(ledgers, 't');
      await writer.write(['a'], {
        requests: [pendingRequest('s', 'q1'), pendingRequest('s', 'q2')],
      });
      await other.write(['b'], { requests: [pendingRequest('t', 'q3')] });
      await ledgers.post('s', answerItem('q1'));
      const settles = ['q1', 'q2', 'q3', 'unknown'].map(
        (requestId) => ({ requestId, status: 'cancelled' as const, by }) as const,
      );
      await writer.write(['c'], { settles });
      const rows = await ledgers.requests();
      expect(rows.map(({ requestId, status }) => `${requestId} ${status}`)).toEqual([
        'q1 answered',
        'q2 cancelled',
        'q3 pending',
      ]);
    });

    test('stays pending when the append is refused', async ({ ledgers }) => {
      const fenced = await Writer.claim(ledgers, 's');
      await fenced.write(['a'], { requests: [pendingRequest('s', 'q')] });
      await Writer.claim(ledgers, 's', 'other');
      const settles = [{ requestId: 'q', status: 'cancelled' as const, by } as const];
      expect(await codeOf(fenced.write(['b'], { settles }))).toBe('ledger_conflict');
      expect(await ledgers.requests()).toMatchObject([{ status: 'pending' }]);
    });
  });
}

function raceContract({ describe, expect, test }: Suite): void {
  describe('of all that settle one request at the same time', () => {
    test('exactly one wins, and the others learn who', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      for (let run = 0; run < 20; run++) {
        const requestId = `q${run}`;
        await writer.write([requestId], { requests: [pendingRequest('s', requestId)] });
        const attempts = [
          () => ledgers.post('s', answerItem(requestId, `${requestId} a`, 'user:a')),
          () => ledgers.settle('s', { requestId, status: 'expired', by: 'runtime' }),
          () => ledgers.post('s', answerItem(requestId, `${requestId} b`, 'user:b')),
          () => ledgers.settle('s', { requestId, status: 'cancelled', by: 'operator' }),
        ];
        const start = run % attempts.length;
        const errors = await Promise.all(
          [...attempts.slice(start), ...attempts.slice(0, start)].map((attempt) =>
            errorOf(attempt()),
          ),
        );
        const [row] = await ledgers.requests({ requestId });
        const lost = errors.filter((error) => error !== undefined);
        expect(lost).toHaveLength(attempts.length - 1);
        for (const error of lost)
          expect(error).toMatchObject({
            code: 'request_settled',
            data: { status: row?.status, by: row?.settledBy },
          });
        const posted = (await ledgers.inbox('s')).filter(({ settles }) => settles === requestId);
        expect(posted.map(({ by }) => by)).toEqual(
          row?.status === 'answered' ? [row.settledBy] : [],
        );
      }
    });
  });
}
