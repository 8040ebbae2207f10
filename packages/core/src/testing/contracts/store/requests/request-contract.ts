import type { RequestDraft } from '../../../../ledger/port.ts';
import { answerItem, codeOf, pendingRequest, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

/** Promise of `requests` in a batch: they are made by their append, in their session alone. */
export function requestContract(suite: Suite): void {
  makingContract(suite);
  borderContract(suite);
}

function makingContract({ describe, expect, test }: Suite): void {
  describe('requests', () => {
    test('are made by the append, pending, with all that it says of them', async ({ ledgers }) => {
      const whole: Required<RequestDraft> = {
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
