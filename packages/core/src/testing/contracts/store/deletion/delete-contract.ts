import {
  answerItem,
  codeOf,
  errorOf,
  inboxItem,
  notes,
  pendingRequest,
  readAll,
  readTexts,
  ttl,
  Writer,
} from '../harness.ts';
import type { Suite } from '../suite.ts';

/** Promise of `delete`: the session is gone at once, and its writer never writes again. */
export function deleteContract(suite: Suite): void {
  hidingContract(suite);
  freedIdContract(suite);
  repeatedContract(suite);
  fencingContract(suite);
}

function hidingContract({ describe, expect, test }: Suite): void {
  describe('delete', () => {
    test('makes a session unreadable at once', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], {
        requests: [pendingRequest('s', 'q')],
        shared: [{ scope: 'user', scopeId: '1', key: 'n', value: 1, baseVersion: 0 }],
      });
      await ledgers.post('s', inboxItem('k'));
      await (await Writer.claim(ledgers, 'other')).write(['b'], {
        requests: [pendingRequest('other', 'q2')],
      });
      await ledgers.delete('s');
      expect(await ledgers.head('s')).toBeUndefined();
      for (const use of [
        () => readAll(ledgers, 's'),
        () => ledgers.inbox('s'),
        () => ledgers.post('s', inboxItem('l')),
        () => ledgers.fork('s', 1, 'f'),
        () => ledgers.delete('s'),
      ]) {
        expect(await codeOf(use())).toBe('session_not_found');
      }
      expect((await ledgers.list()).map(({ id }) => id)).toEqual(['other']);
      expect((await ledgers.requests()).map(({ requestId }) => requestId)).toEqual(['q2']);
      expect(
        await codeOf(ledgers.settle('s', { requestId: 'q', status: 'cancelled', by: 'runtime' })),
      ).toBe('request_not_found');
      expect(await ledgers.readShared('user', '1')).toEqual({ n: { value: 1, version: 1 } });
      expect(await readTexts(ledgers, 'other')).toEqual(['b']);
    });
  });
}

function freedIdContract({ describe, expect, test }: Suite): void {
  describe('delete', () => {
    test('frees the id for a session that has nothing of the old one', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      const summary = {
        status: 'completed' as const,
        title: 'Refund',
        runnable: 'support',
        user: '42',
      };
      await writer.write(['a', 'b'], { requests: [pendingRequest('s', 'q')], summary });
      await ledgers.post('s', answerItem('q'));
      await ledgers.delete('s');
      const next = await Writer.claim(ledgers, 's');
      expect(next.claim).toMatchObject({ seq: 0, inboxSeq: 0 });
      await next.write(['new'], { requests: [pendingRequest('s', 'q')] });
      expect(await readTexts(ledgers, 's')).toEqual(['new']);
      expect(await ledgers.inbox('s')).toEqual([]);
      expect(await ledgers.post('s', answerItem('q'))).toMatchObject({
        inboxSeq: 1,
        duplicate: false,
      });
      const [listing] = await ledgers.list();
      expect(listing).toMatchObject({ id: 's', seq: 1, status: 'active' });
      expect(listing).not.toHaveProperty('title');
      await ledgers.delete('s');
      await (await Writer.claim(ledgers, 't')).write(['c']);
      await ledgers.fork('t', 1, 's');
      expect(await readTexts(ledgers, 's')).toEqual(['c']);
    });
  });
}

function repeatedContract({ describe, expect, test }: Suite): void {
  describe('delete', () => {
    test('of what is not there fails', async ({ store, ledgers }) => {
      await Writer.claim(ledgers, 's');
      expect(await codeOf(ledgers.delete('unknown'))).toBe('session_not_found');
      expect(
        await codeOf(store.for({ tenant: 'other', app: 'shop' }).delete('s', { erase: true })),
      ).toBe('session_not_found');
      expect(await ledgers.head('s')).toBeDefined();
    });

    test('of one session at the same time is done once', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a']);
      const codes = await Promise.all([1, 2, 3].map(() => codeOf(ledgers.delete('s'))));
      expect(codes.sort()).toEqual(['resolved', 'session_not_found', 'session_not_found']);
    });
  });
}

function fencingContract({ describe, expect, test }: Suite): void {
  describe('the writer of a deleted session', () => {
    test('is fenced, whoever deleted it', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's', 'a');
      await writer.write(['a']);
      await ledgers.delete('s');
      const error = await errorOf(writer.write(['b']));
      expect(error).toMatchObject({
        code: 'ledger_conflict',
        data: { expected: { seq: 1, epoch: 1 }, found: { seq: 0, epoch: 0 } },
      });
      expect(await codeOf(ledgers.renew(writer.claim))).toBe('ledger_conflict');
      expect(await ledgers.release(writer.claim)).toMatchObject({ released: true });
      expect(await ledgers.head('s')).toBeUndefined();
    });

    test('never writes to another session that gets the id, however often that is claimed', async ({
      ledgers,
    }) => {
      let writer = await Writer.claim(ledgers, 's', 'old');
      for (let i = 0; i < 3; i++) writer = await Writer.claim(ledgers, 's', 'old');
      await writer.write(['a']);
      await ledgers.delete('s');
      for (let i = 0; i < 6; i++) {
        const next = await Writer.claim(ledgers, 's', `next ${i}`);
        if (i === 0) await next.write(['new']);
        expect(next.claim.epoch).toBeGreaterThan(writer.claim.epoch);
        expect(await codeOf(writer.write(['late']))).toBe('ledger_conflict');
        expect(await codeOf(ledgers.renew(writer.claim))).toBe('ledger_conflict');
        await ledgers.release(writer.claim);
        expect(await codeOf(ledgers.claim('s', 'other', { ttlMs: ttl }))).toBe('session_busy');
      }
      expect(await readTexts(ledgers, 's')).toEqual(['new']);
    });

    test('never writes to a fork that gets the id and has the same length', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 'origin')).write(['a', 'b']);
      const writer = await Writer.claim(ledgers, 's', 'old');
      await writer.write(['x', 'y']);
      await ledgers.delete('s');
      await ledgers.fork('origin', 2, 's');
      expect(await codeOf(writer.write(['late']))).toBe('ledger_conflict');
      expect(
        await codeOf(ledgers.append('s', { seq: 0, epoch: 1 }, { events: notes(0, ['x', 'y']) })),
      ).toBe('ledger_conflict');
      const next = await Writer.claim(ledgers, 's', 'next');
      expect(next.claim.epoch).toBeGreaterThan(writer.claim.epoch);
      await next.write(['c']);
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b', 'c']);
    });
  });
}
