import { randomFromSeed } from '../../../base/random.ts';
import type { LedgerStore } from '../../../ledger/port.ts';
import {
  answerItem,
  codeOf,
  errorOf,
  inboxItem,
  notes,
  pendingRequest,
  readAll,
  readTexts,
  type Suite,
  ttl,
  Writer,
} from './harness.ts';

export function deletionContract(suite: Suite): void {
  hidingContract(suite);
  repeatedContract(suite);
  fencingContract(suite);
  readerContract(suite);
  familyContract(suite);
  eraseContract(suite);
  historyContract(suite);
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
        expect(await codeOf(ledgers.claim('s', 'other', { ttl }))).toBe('session_busy');
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

function readerContract({ describe, expect, test }: Suite): void {
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
      await Promise.all([ledgers.delete('s'), ledgers.claim('s', 'other', { ttl, force: true })]);
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

function familyContract({ describe, expect, test }: Suite): void {
  describe('delete of a session with forks', () => {
    test('leaves them what they share', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b', 'c', 'd']);
      await ledgers.fork('s', 2, 'f1');
      await ledgers.fork('s', 3, 'f2');
      await ledgers.fork('s', 0, 'f0');
      await (await Writer.claim(ledgers, 'f1')).write(['x', 'y']);
      await ledgers.fork('f1', 3, 'g');
      await ledgers.delete('s');
      await ledgers.delete('f1');
      expect(await readTexts(ledgers, 'f2')).toEqual(['a', 'b', 'c']);
      expect(await readTexts(ledgers, 'g')).toEqual(['a', 'b', 'x']);
      await (await Writer.claim(ledgers, 'g')).write(['p']);
      await (await Writer.claim(ledgers, 'f0')).write(['q']);
      // It forks in the part that belonged to a deleted session.
      await ledgers.fork('g', 1, 'h');
      await ledgers.delete('f2');
      expect(await readTexts(ledgers, 'g')).toEqual(['a', 'b', 'x', 'p']);
      expect(await readTexts(ledgers, 'g', { after: 1, upTo: 3 })).toEqual(['b', 'x']);
      expect(await readTexts(ledgers, 'h')).toEqual(['a']);
      expect(await readTexts(ledgers, 'f0')).toEqual(['q']);
      expect(await codeOf(readTexts(ledgers, 's'))).toBe('session_not_found');
    });

    test('and of a fork leaves the origin as it is', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a', 'b']);
      await ledgers.fork('s', 1, 'f');
      await (await Writer.claim(ledgers, 'f')).write(['x']);
      await ledgers.delete('f', { erase: true });
      await writer.write(['c']);
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b', 'c']);
    });
  });
}

function eraseContract({ describe, expect, test }: Suite): void {
  describe('erase', () => {
    test('takes forks along, and theirs', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b']);
      await (await Writer.claim(ledgers, 'other')).write(['o']);
      await ledgers.fork('s', 1, 'f');
      const fork = await Writer.claim(ledgers, 'f');
      await fork.write(['x'], { requests: [pendingRequest('f', 'q')] });
      await ledgers.fork('f', 2, 'g');
      const follower = ledgers.follow('g', 2, new AbortController().signal)[Symbol.asyncIterator]();
      const next = codeOf(follower.next());
      await ledgers.delete('s', { erase: true });
      expect((await ledgers.list()).map(({ id }) => id)).toEqual(['other']);
      for (const session of ['s', 'f', 'g'])
        expect(await codeOf(readAll(ledgers, session))).toBe('session_not_found');
      expect(await ledgers.requests()).toEqual([]);
      expect(await codeOf(fork.write(['y']))).toBe('ledger_conflict');
      expect(await next).toBe('session_not_found');
    });

    test('takes forks of forks along whose own origin was deleted before', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a', 'b']);
      await ledgers.fork('s', 1, 'f');
      await (await Writer.claim(ledgers, 'f')).write(['x']);
      await ledgers.fork('f', 2, 'g');
      await ledgers.delete('f');
      await ledgers.delete('s', { erase: true });
      expect(await ledgers.list()).toEqual([]);
    });

    test('of many is done at once', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a']);
      for (let i = 0; i < 20; i++) await ledgers.fork('s', 1, `fork ${i}`);
      await ledgers.delete('s', { erase: true });
      expect(await ledgers.list()).toEqual([]);
    });
  });
}

function historyContract({ describe, expect, test }: Suite): void {
  describe('forks and deletions', () => {
    test('leave every session that lives with its own events, whatever the order', async ({
      ledgers,
    }) => {
      for (let run = 0; run < 12; run++) {
        const sessions = await playHistory(ledgers, `run ${run}`);
        for (const [session, texts] of sessions)
          expect(await readTexts(ledgers, session), `run ${run}, ${session}`).toEqual(texts);
        const living = (await ledgers.list())
          .map(({ id }) => id)
          .filter((id) => id.startsWith(`run ${run} `));
        expect(living.sort()).toEqual([...sessions.keys()].sort());
      }
    });
  });
}

/** Writes, forks and deletes at random. Returns the texts that each living session must have. */
async function playHistory(
  ledgers: LedgerStore,
  seed: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const sessions = new Map<string, readonly string[]>([[`${seed} 0`, []]]);
  await ledgers.claim(`${seed} 0`, 'writer', { ttl });
  for (let step = 1; step <= 25 && sessions.size > 0; step++) {
    const random = (what: string): number => randomFromSeed(`${seed} ${step} ${what}`);
    const [session, texts] = [...sessions][Math.floor(random('session') * sessions.size)] as [
      string,
      readonly string[],
    ];
    const action = random('action');
    if (action < 0.4) {
      const added = Array.from(
        { length: 1 + Math.floor(random('length') * 3) },
        (_, i) => `${step}.${i}`,
      );
      await (await Writer.claim(ledgers, session)).write(added);
      sessions.set(session, [...texts, ...added]);
    } else if (action < 0.75) {
      const at = Math.floor(random('at') * (texts.length + 1));
      await ledgers.fork(session, at, `${seed} ${step}`);
      sessions.set(`${seed} ${step}`, texts.slice(0, at));
    } else if (sessions.size > 1) {
      await ledgers.delete(session);
      sessions.delete(session);
    }
  }
  return sessions;
}
