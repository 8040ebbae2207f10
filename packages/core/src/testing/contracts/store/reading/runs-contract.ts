import type { Event } from '../../../../ledger/event.ts';
import type { LedgerStore } from '../../../../ledger/port.ts';
import { codeOf, eventsAfter, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

/** Begins a run, with a part and something that it takes over. */
async function begin(ledgers: LedgerStore, session: string, run: string): Promise<void> {
  const writer = await Writer.claim(ledgers, session);
  const start = (path: string) =>
    ({
      type: 'invocation_start',
      by: 'runtime',
      invocationId: path,
      kind: 'agent',
      name: 'a',
      mode: 'root',
    }) as const;
  const events: readonly Event[] = eventsAfter(writer.seq, [
    { type: 'user', by: 'user', text: 'Go', invocationId: run },
    start(run),
    start(`${run}/part`),
    { type: 'assistant', by: 'model', invocationId: run, agent: 'a', text: 'Done.' },
  ]);
  await ledgers.append(session, writer.head, { events });
}

/** Sessions of a run, in the order of their names. */
async function found(ledgers: LedgerStore, run: string): Promise<readonly string[] | undefined> {
  return (await ledgers.sessionsOfRun?.(run))?.toSorted();
}

/** Rules of the optional method `sessionsOfRun`; they say nothing of a store without it. */
export function runsContract({ describe, expect, test }: Suite): void {
  describe('sessions of a run', () => {
    test('are those in which it began', async ({ ledgers }) => {
      if (ledgers.sessionsOfRun === undefined) return;
      await begin(ledgers, 's', 'first');
      await begin(ledgers, 's', 'seç"ond\\');
      await begin(ledgers, 't', 'first');
      expect(await found(ledgers, 'first')).toEqual(['s', 't']);
      expect(await found(ledgers, 'seç"ond\\')).toEqual(['s']);
      for (const none of ['', 'firs', 'first/part', 'part', '%', 'FIRST'])
        expect(await found(ledgers, none)).toEqual([]);
    });

    test('are listed with the last changed first, as many as are wanted', async ({ ledgers }) => {
      const { sessionsOfRun } = ledgers;
      if (sessionsOfRun === undefined) return;
      for (const session of ['a', 'b', 'c']) await begin(ledgers, session, 'run');
      const all = await ledgers.sessionsOfRun?.('run');
      const listed = (await ledgers.list()).map(({ id }) => id);
      expect(all).toEqual(listed);
      expect(await ledgers.sessionsOfRun?.('run', { limit: 2 })).toEqual(listed.slice(0, 2));
      expect(await codeOf(sessionsOfRun.call(ledgers, 'run', { limit: 0 }))).toBe('RangeError');
    });

    test('are of the tenant and app alone', async ({ ledgers, store }) => {
      if (ledgers.sessionsOfRun === undefined) return;
      await begin(ledgers, 's', 'run');
      await begin(store.for({ tenant: 'other', app: 'shop' }), 'theirs', 'run');
      await begin(store.for({ tenant: 'acme', app: 'other' }), 'other', 'run');
      expect(await found(ledgers, 'run')).toEqual(['s']);
    });

    test('are no forks that share the run, and none that were deleted', async ({ ledgers }) => {
      if (ledgers.sessionsOfRun === undefined) return;
      await begin(ledgers, 's', 'run');
      await ledgers.fork('s', 4, 'fork');
      await begin(ledgers, 'fork', 'later');
      expect(await found(ledgers, 'run')).toEqual(['s']);
      expect(await found(ledgers, 'later')).toEqual(['fork']);
      await ledgers.delete('s');
      expect(await found(ledgers, 'run')).toEqual([]);
      await begin(ledgers, 's', 'again');
      expect(await found(ledgers, 'run')).toEqual([]);
      expect(await found(ledgers, 'again')).toEqual(['s']);
    });

    test('are found in the order in which runs are begun again and again', async ({ ledgers }) => {
      if (ledgers.sessionsOfRun === undefined) return;
      for (let number = 0; number < 40; number++) await begin(ledgers, 's', `run${number}`);
      for (const number of [0, 17, 39]) expect(await found(ledgers, `run${number}`)).toEqual(['s']);
    });
  });
}
