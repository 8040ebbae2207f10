import { defined } from '../../../base/defined.ts';
import type { PendingRequest, RequestFilter, RequestRow } from '../../../ledger/port.ts';
import {
  answerItem,
  codeOf,
  errorOf,
  inboxItem,
  longAgo,
  pendingRequest,
  type Suite,
  Writer,
} from './harness.ts';

export function requestContract(suite: Suite): void {
  makingContract(suite);
  borderContract(suite);
  filterContract(suite);
}

function makingContract({ describe, expect, test }: Suite): void {
  describe('requests', () => {
    test('are made by the append, pending, with all that it says of them', async ({ ledgers }) => {
      const whole: Required<PendingRequest> = {
        ...pendingRequest('s', 'q1'),
        request: {
          agent: 'support',
          summary: 'Grüße 👋',
          options: ['approve', 'edit'],
          details: { order: 17, parts: [null, true] },
        },
        user: '42',
        mayDecide: ['lead', 'user:7'],
        operationId: 'op1',
        expiresAt: 1_900_000_000_000,
      };
      const plain = pendingRequest('s', 'q2', { kind: 'input', createdAt: whole.createdAt + 1 });
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { requests: [whole, plain] });
      expect(await ledgers.requests()).toEqual([
        { ...whole, status: 'pending' },
        { ...plain, status: 'pending' },
      ]);
    });

    test('that are there already are left as they are', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { requests: [pendingRequest('s', 'q')] });
      await ledgers.post('s', answerItem('q'));
      await writer.write(['b'], {
        requests: [pendingRequest('s', 'q', { name: 'other', createdAt: 5 })],
      });
      expect(await ledgers.requests()).toMatchObject([
        { requestId: 'q', name: 'refund', status: 'answered' },
      ]);
      const other = await Writer.claim(ledgers, 't');
      await other.write(['c'], { requests: [pendingRequest('t', 'q')] });
      expect(await ledgers.requests()).toMatchObject([{ requestId: 'q', session: 's' }]);
    });

    test('of an append that is refused are not made', async ({ ledgers }) => {
      const fenced = await Writer.claim(ledgers, 's');
      const writer = await Writer.claim(ledgers, 's', 'other');
      const requests = [pendingRequest('s', 'q')];
      expect(await codeOf(fenced.write(['a'], { requests }))).toBe('ledger_conflict');
      expect(await codeOf(writer.write(['a'], { requests, blobs: ['f'.repeat(64)] }))).toBe(
        'blob_missing',
      );
      expect(
        await codeOf(writer.write(['a'], { requests: [pendingRequest('elsewhere', 'q')] })),
      ).toBe('RangeError');
      expect(await ledgers.requests()).toEqual([]);
    });
  });
}

function borderContract({ describe, expect, test }: Suite): void {
  describe('requests', () => {
    test('are not inherited by a fork', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { requests: [pendingRequest('s', 'q')] });
      await ledgers.fork('s', 1, 'fork');
      expect(await ledgers.requests({ session: 'fork' })).toEqual([]);
      expect(await codeOf(ledgers.post('fork', answerItem('q')))).toBe('request_not_found');
    });

    test('of other tenants and apps are out of reach', async ({ store, ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a'], {
        requests: [pendingRequest('s', 'q')],
      });
      for (const scope of [
        { tenant: 'acme', app: 'other' },
        { tenant: 'other', app: 'shop' },
      ]) {
        const foreign = store.for(scope);
        expect(await foreign.requests()).toEqual([]);
        const writer = await Writer.claim(foreign, 's');
        expect(await codeOf(foreign.post('s', answerItem('q')))).toBe('request_not_found');
        expect(
          await codeOf(foreign.settle('s', { requestId: 'q', status: 'cancelled', by: 'runtime' })),
        ).toBe('request_not_found');
        await writer.write(['b'], {
          settles: [{ requestId: 'q', status: 'cancelled', by: 'runtime' }],
        });
        await writer.write(['c'], { requests: [pendingRequest('s', 'q')] });
        await foreign.post('s', answerItem('q'));
      }
      expect(await ledgers.requests()).toMatchObject([{ requestId: 'q', status: 'pending' }]);
    });
  });
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

export function settlingContract(suite: Suite): void {
  answerContract(suite);
  expiryContract(suite);
  writerContract(suite);
  raceContract(suite);
}

function answerContract({ describe, expect, test }: Suite): void {
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
      const { until } = await ledgers.claim('s', 'writer', { ttl: 1_000 });
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

function writerContract({ describe, expect, test }: Suite): void {
  const by = 'runtime';
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
