import { randomFromSeed } from '../../../../base/random.ts';
import type { LedgerStore } from '../../../../ledger/port.ts';
import { codeOf, pendingRequest, readAll, readTexts, ttl, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

/** Promise of `delete` to forks: they keep the prefix that they share, unless it is erased. */
export function deletedForkContract(suite: Suite): void {
  familyContract(suite);
  eraseContract(suite);
  historyContract(suite);
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
  await ledgers.claim(`${seed} 0`, 'writer', { ttlMs: ttl });
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
