import { type Store, session } from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import { eventually } from 'adjutant/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { arbitraryLedger } from '../arbitrary-ledger.ts';
import { type StorePlace, storePlaces } from '../store-places.ts';
import { app, changes, open, write } from './written-ledger.ts';

const big = 'x'.repeat(100_000);

/** Counts the reads of a store. */
function counting(store: Store): {
  readonly store: Store;
  readonly reads: { after: number; upTo: number | undefined }[];
  readonly snapshots: number[];
} {
  const reads: { after: number; upTo: number | undefined }[] = [];
  const snapshots: number[] = [];
  const counted: Store = {
    description: store.description,
    admin: store.admin,
    close: () => store.close(),
    for: (scope) => {
      const ledgers = store.for(scope);
      return new Proxy(ledgers, {
        get: (target, name: keyof LedgerStore) => {
          if (name === 'read') {
            return (id: string, range: { after?: number; upTo?: number } = {}) => {
              reads.push({ after: range.after ?? 0, upTo: range.upTo });
              return target.read(id, range);
            };
          }
          if (name === 'putSnapshot') {
            return (...given: Parameters<LedgerStore['putSnapshot']>) => {
              const { seq } = given[1];
              // Nobody waits for snapshots, so it is noted when one is there.
              return target.putSnapshot(...given).then(() => void snapshots.push(seq));
            };
          }
          const member = target[name] as (...args: unknown[]) => unknown;
          return member.bind(target);
        },
      });
    },
  };
  return { store: counted, reads, snapshots };
}

describe.each(storePlaces)('on %s', (_name, make) => {
  let place: StorePlace;
  let store: Store;

  beforeEach(async () => {
    place = await make();
    store = place.open();
  });

  afterEach(async () => {
    await store.close();
    await place.remove();
  });

  describe('app.sessions.stateAt', () => {
    test('is what the session says of itself, at every seq of every ledger', async () => {
      let number = 0;
      await fc.assert(
        fc.asyncProperty(arbitraryLedger({ maxMoves: 30 }), async (events) => {
          const id = `s${number++}`;
          await write(store, id, events);
          const reader = open(store);
          const last = await reader.sessions.stateAt(id);
          const opened = await reader.sessions.open({ id });
          for (const seq of new Set([0, 1, events.length >> 1, events.length]))
            expect(await reader.sessions.stateAt(id, seq)).toEqual(opened.stateAt(seq));
          expect(last).toEqual(opened.stateAt(events.length));
        }),
        { numRuns: 15 },
      );
    });

    test('reads no more than what comes after a snapshot, and gives the same', async () => {
      const events = changes(5_300);
      await write(store, 's', events);
      const first = counting(store);
      const cold = await open(first.store).sessions.stateAt('s', 5_300);
      expect(first.reads).toEqual([{ after: 0, upTo: 5_300 }]);
      await eventually(() => first.snapshots.includes(4_000), { what: 'the last snapshot' });
      const second = counting(store);
      const reader = open(second.store);
      expect(await reader.sessions.stateAt('s', 5_300)).toEqual(cold);
      expect(second.reads[0]?.after).toBe(4_000);
      expect(await reader.sessions.stateAt('s', 5_290)).toEqual(
        (await session.fromSnapshot({ app, id: 's', events })).stateAt(5_290),
      );
      expect(await reader.sessions.stateAt('s', 10)).toMatchObject({ sessionState: { key9: '9' } });
      expect(second.reads.at(-1)).toEqual({ after: 0, upTo: 10 });
    });

    test('a fork starts from the snapshots of what it shares', async () => {
      await write(store, 's', changes(5_000));
      const first = counting(store);
      await open(first.store).sessions.stateAt('s', 5_000);
      await eventually(() => first.snapshots.includes(4_000), { what: 'the snapshot' });
      await open(store).sessions.fork('s', { id: 'fork', at: 4_500 });
      const second = counting(store);
      const then = await open(second.store).sessions.stateAt('fork', 4_500);
      expect(then).toEqual(await open(store).sessions.stateAt('s', 4_500));
      expect(second.reads[0]?.after).toBeGreaterThan(0);
    });

    test('a snapshot of another fold or of other event versions is ignored', async () => {
      const ledgers = await write(store, 's', changes(20));
      await ledgers.putSnapshot('s', {
        key: 'point@0/of another version',
        seq: 20,
        value: { scopes: { session: { wrong: true } } },
      });
      expect((await open(store).sessions.stateAt('s', 20)).sessionState).not.toHaveProperty(
        'wrong',
      );
    });

    test(
      'what snapshots take stays small beside the ledger, however large ' + 'the state is',
      async () => {
        // About 40 KB of state, which changes with every event.
        await write(
          store,
          's',
          changes(6_000, (i) => `${i}`.padEnd(4_000, 'x')),
        );
        const counted = counting(store);
        await open(counted.store).sessions.stateAt('s', 6_000);
        expect(counted.snapshots.length).toBeLessThanOrEqual(3);
      },
    );

    test('large values are whole', async () => {
      const made = await open(store).sessions.open({ id: 's' });
      made.state['kept'] = big;
      await made.flush();
      expect((await open(store).sessions.stateAt('s', 1)).sessionState['kept']).toBe(big);
    });

    test('takes nothing from who works on the session', async () => {
      const owner = await open(store).sessions.open({ id: 's' });
      owner.state['n'] = 1;
      await owner.flush();
      expect((await open(store).sessions.stateAt('s')).sessionState).toEqual({ n: 1 });
      owner.state['n'] = 2;
      await owner.flush();
      expect((await open(store).sessions.stateAt('s')).sessionState).toEqual({ n: 2 });
    });

    test('refuses what is not there', async () => {
      await write(store, 's', changes(3));
      const reader = open(store);
      await expect(reader.sessions.stateAt('unknown')).rejects.toMatchObject({
        code: 'session_not_found',
      });
      for (const seq of [-1, 1.5, 4])
        await expect(reader.sessions.stateAt('s', seq)).rejects.toMatchObject({
          code: 'seq_out_of_range',
          data: { last: 3 },
        });
    });
  });
});
