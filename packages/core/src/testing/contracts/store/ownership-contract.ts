import { codeOf, errorOf, type Suite, ttl, Writer } from './harness.ts';
import { withOtherProcess } from './other-process.ts';

export function ownershipContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('claim', () => {
    test('brings the ledger into being', async ({ ledgers }) => {
      expect(await ledgers.head('s')).toBeUndefined();
      expect(await ledgers.claim('s', 'a', { ttl })).toMatchObject({
        session: 's',
        owner: 'a',
        epoch: 1,
        seq: 0,
        inboxSeq: 0,
      });
      expect(await ledgers.head('s')).toEqual({ seq: 0, epoch: 1, inboxSeq: 0 });
    });

    test('tells where the ledger ends', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b']);
      await ledgers.post('s', {
        key: 'k',
        lane: 'input',
        by: 'user',
        at: 1,
        type: 'wake',
        data: {},
      });
      expect(await ledgers.claim('s', 'writer', { ttl })).toMatchObject({
        epoch: 2,
        seq: 2,
        inboxSeq: 1,
      });
    });

    test('is refused while the lease of another owner is live, with that owner and time', async ({
      ledgers,
    }) => {
      const held = await ledgers.claim('s', 'a', { ttl });
      const error = await errorOf(ledgers.claim('s', 'b', { ttl }));
      expect(error).toMatchObject({
        code: 'session_busy',
        data: { session: 's', owner: 'a', until: held.until },
      });
      expect(await ledgers.head('s')).toMatchObject({ epoch: 1 });
    });

    test('of the same owner succeeds and fences its former self', async ({ ledgers }) => {
      const before = await Writer.claim(ledgers, 's', 'a');
      expect(await ledgers.claim('s', 'a', { ttl })).toMatchObject({ epoch: 2 });
      expect(await codeOf(before.write(['x']))).toBe('ledger_conflict');
    });

    test('takes over when forced', async ({ ledgers }) => {
      await ledgers.claim('s', 'a', { ttl });
      expect(await ledgers.claim('s', 'b', { ttl, force: true })).toMatchObject({
        owner: 'b',
        epoch: 2,
      });
    });

    test('of many at once is given to exactly one', async ({ ledgers }) => {
      const codes = await Promise.all(
        ['a', 'b', 'c', 'd'].map((owner) => codeOf(ledgers.claim('s', owner, { ttl }))),
      );
      expect(codes.sort()).toEqual(['resolved', 'session_busy', 'session_busy', 'session_busy']);
    });

    test('takes over from a process of this machine that no longer exists', async ({ ledgers }) => {
      await withOtherProcess(async ({ owner, kill }) => {
        await ledgers.claim('s', owner, { ttl });
        expect(await codeOf(ledgers.claim('s', 'b', { ttl }))).toBe('session_busy');
        await kill();
        expect(await ledgers.claim('s', 'b', { ttl })).toMatchObject({ owner: 'b', epoch: 2 });
      });
    });
  });
  leaseContract(suite);
  releaseContract(suite);
}

function leaseContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('lease', () => {
    test('ends after its time', async ({ ledgers, advance }) => {
      await ledgers.claim('s', 'a', { ttl: 1_000 });
      advance(999);
      expect(await codeOf(ledgers.claim('s', 'b', { ttl }))).toBe('session_busy');
      advance(1);
      expect(await ledgers.claim('s', 'b', { ttl })).toMatchObject({ owner: 'b', epoch: 2 });
    });

    test('that has ended does not fence its owner until somebody claims', async ({
      ledgers,
      advance,
    }) => {
      const writer = await Writer.claim(ledgers, 's', 'a');
      advance(ttl + 1);
      expect((await writer.write(['still here'])).seq).toBe(1);
      expect(await codeOf(ledgers.claim('s', 'b', { ttl }))).toBe('session_busy');
    });

    test('is prolonged by appends', async ({ ledgers, advance }) => {
      const writer = await Writer.claim(ledgers, 's', 'a');
      advance(ttl - 1);
      await writer.write(['a']);
      advance(ttl - 1);
      expect(await codeOf(ledgers.claim('s', 'b', { ttl }))).toBe('session_busy');
      advance(1);
      expect(await codeOf(ledgers.claim('s', 'b', { ttl }))).toBe('resolved');
    });

    test('is prolonged by renew, which tells where the ledger ends', async ({
      ledgers,
      advance,
    }) => {
      const writer = await Writer.claim(ledgers, 's', 'a');
      await writer.write(['a']);
      await ledgers.post('s', {
        key: 'k',
        lane: 'input',
        by: 'user',
        at: 1,
        type: 'wake',
        data: {},
      });
      advance(ttl - 1);
      expect(await ledgers.renew(writer.claim)).toMatchObject({ seq: 1, epoch: 1, inboxSeq: 1 });
      advance(ttl - 1);
      expect(await codeOf(ledgers.claim('s', 'b', { ttl }))).toBe('session_busy');
    });

    test('cannot be renewed by one who was fenced or never held it', async ({ ledgers }) => {
      const fenced = await ledgers.claim('s', 'a', { ttl });
      await ledgers.claim('s', 'b', { ttl, force: true });
      expect(await codeOf(ledgers.renew(fenced))).toBe('ledger_conflict');
      expect(await codeOf(ledgers.renew({ ...fenced, session: 'unknown' }))).toBe(
        'ledger_conflict',
      );
    });
  });
}

function releaseContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('a lease', () => {
    test('that was given back is free at once', async ({ ledgers }) => {
      const claim = await ledgers.claim('s', 'a', { ttl });
      await ledgers.release(claim);
      expect(await ledgers.claim('s', 'b', { ttl })).toMatchObject({ owner: 'b', epoch: 2 });
    });

    test('is kept while something was posted that its owner has not seen', async ({ ledgers }) => {
      const claim = await ledgers.claim('s', 'a', { ttl });
      expect(await ledgers.release(claim, { inboxSeq: 0 })).toMatchObject({
        released: true,
        inboxSeq: 0,
      });
      const again = await ledgers.claim('s', 'a', { ttl });
      await ledgers.post('s', {
        key: 'k',
        lane: 'input',
        by: 'user',
        at: 1,
        type: 'wake',
        data: {},
      });
      expect(await ledgers.release(again, { inboxSeq: again.inboxSeq })).toMatchObject({
        released: false,
        inboxSeq: 1,
      });
      expect(await codeOf(ledgers.claim('s', 'b', { ttl }))).toBe('session_busy');
      expect(await ledgers.release(again, { inboxSeq: 1 })).toMatchObject({
        released: true,
        inboxSeq: 1,
      });
      expect(await ledgers.claim('s', 'b', { ttl })).toMatchObject({
        owner: 'b',
        epoch: 3,
        inboxSeq: 1,
      });
    });

    test('is given back whatever was posted when its owner does not ask', async ({ ledgers }) => {
      const claim = await ledgers.claim('s', 'a', { ttl });
      await ledgers.post('s', {
        key: 'k',
        lane: 'input',
        by: 'user',
        at: 1,
        type: 'wake',
        data: {},
      });
      expect(await ledgers.release(claim)).toMatchObject({ released: true, inboxSeq: 1 });
      expect(await ledgers.claim('s', 'b', { ttl })).toMatchObject({ owner: 'b', epoch: 2 });
    });

    test('of another owner is not given back by one who was fenced', async ({ ledgers }) => {
      const fenced = await ledgers.claim('s', 'a', { ttl });
      await ledgers.claim('s', 'b', { ttl, force: true });
      expect(await ledgers.release(fenced, { inboxSeq: -1 })).toMatchObject({
        released: true,
        inboxSeq: 0,
      });
      expect(await ledgers.release({ ...fenced, session: 'unknown' })).toMatchObject({
        released: true,
        inboxSeq: 0,
      });
      expect(await codeOf(ledgers.claim('s', 'c', { ttl }))).toBe('session_busy');
    });
  });
}
