import {
  agent,
  type Event,
  type Runtime,
  runtime,
  type Store,
  sequence,
  session,
  step,
  tool,
} from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import { eventually, scriptedModel } from 'adjutant/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { arbitraryLedger } from '../arbitrary-ledger.ts';
import { type StorePlace, storePlaces } from '../store-places.ts';

const big = 'x'.repeat(100_000);
const app = 'travel';

function open(store: Store): Runtime {
  return runtime({ app, store, recover: 'manual' });
}

function userOf({ state }: { readonly state: object }): Record<string, unknown> {
  return (state as { user: Record<string, unknown> }).user;
}

/** Writes a ledger as another process would have left it. */
async function write(store: Store, id: string, events: readonly Event[]): Promise<LedgerStore> {
  const ledgers = store.for({ tenant: 'default', app });
  const claim = await ledgers.claim(id, 'writer', { ttlMs: 1_000 });
  if (events.length > 0) await ledgers.append(id, { seq: 0, epoch: claim.epoch }, { events });
  await ledgers.release(claim);
  return ledgers;
}

/** A ledger of so many changes of state. */
function changes(count: number, valueAt: (i: number) => string = String): Event[] {
  return Array.from({ length: count }, (_, i) => {
    const change = { key: `key${i % 10}`, newValue: valueAt(i) };
    return {
      v: 2,
      seq: i + 1,
      id: `e${i}`,
      at: 1_000 + i,
      type: 'state_change',
      by: 'operator',
      scope: 'session',
      source: 'mutation',
      changes: [change],
    };
  });
}

function mutations(events: readonly Event[]) {
  return events.flatMap((event) =>
    event.type === 'state_change' && event.source === 'mutation' ? event.changes : [],
  );
}

/** What is read of a store, counted. */
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

  describe('app.sessions.fork', () => {
    test('neither side sees what the other does, whichever the ledger and the place', async () => {
      let number = 0;
      await fc.assert(
        fc.asyncProperty(arbitraryLedger({ maxMoves: 30 }), fc.nat(), async (events, where) => {
          const id = `s${number++}`;
          const at = where % (events.length + 1);
          await write(store, id, events);
          const fork = await open(store).sessions.fork(id, { at, id: `${id} fork` });
          const original = await open(store).sessions.open({ id });
          fork.state['mine'] = 'fork';
          original.state['mine'] = 'original';
          await Promise.all([fork.flush(), original.flush()]);
          const [forkAgain, originalAgain] = await Promise.all([
            open(store).sessions.open({ id: fork.id }),
            open(store).sessions.open({ id }),
          ]);
          expect(originalAgain.events.slice(0, events.length)).toEqual(events);
          expect(mutations(originalAgain.events.slice(events.length))).toEqual([
            { key: 'mine', newValue: 'original' },
          ]);
          expect(mutations(forkAgain.events.slice(at))).toEqual([
            { key: 'mine', newValue: 'fork' },
          ]);
          expect(forkAgain.events.slice(0, at)).toEqual(events.slice(0, at));
          expect([forkAgain.state['mine'], originalAgain.state['mine']]).toEqual([
            'fork',
            'original',
          ]);
          expect(forkAgain.stateAt(at)).toEqual(originalAgain.stateAt(at));
        }),
        { numRuns: 15 },
      );
    });

    test('shares what was done, and goes its own way from there', async () => {
      const ran: string[] = [];
      const named = (name: string) =>
        step({ name, execute: (ctx) => void ran.push(`${name} in ${ctx.session.id}`) });
      const all = () => sequence({ name: 'all', runnables: [named('first'), named('second')] });
      const { session: made } = await open(store).run(all(), {
        session: 's',
        input: 'Go',
        runId: 'run',
      });
      const at = made.invocationBoundary('run/first')?.endIndex ?? Number.NaN;
      const forking = open(store);
      const fork = await forking.sessions.fork('s', { at });
      expect(await forking.run(all(), { session: fork })).toMatchObject({ status: 'completed' });
      expect(ran).toEqual(['first in s', 'second in s', `second in ${fork.id}`]);
      expect((await open(store).sessions.open({ id: 's' })).events).toEqual(made.events);
    });

    test('is parked: any process may take it up', async () => {
      await write(store, 's', changes(3));
      await open(store).sessions.fork('s', { id: 'fork' });
      const other = await open(store).sessions.open({ id: 'fork' });
      other.state['n'] = 1;
      await other.flush();
      expect(other.events.at(-2)).toMatchObject({
        type: 'decision',
        component: 'fork',
        data: { session: 'fork', from: 's', at: 3 },
      });
    });

    async function withTheme(id: string): Promise<void> {
      const made = await open(store).sessions.open({ id, userId: 'u' });
      userOf(made)['theme'] = 'dark';
      await made.flush();
      await made.ledger.release();
    }

    async function storedTheme(): Promise<unknown> {
      const fresh = await open(store).sessions.open({ userId: 'u' });
      return userOf(fresh)['theme'];
    }

    test('keeps shared state to itself, in every process that opens it', async () => {
      await withTheme('s');
      const fork = await open(store).sessions.fork('s', { id: 'fork' });
      expect(userOf(fork)['theme']).toBe('dark');
      userOf(fork)['theme'] = 'light';
      await fork.flush();
      await fork.ledger.release();
      expect(await storedTheme()).toBe('dark');
      const elsewhere = await open(store).sessions.open({ id: 'fork' });
      expect(userOf(elsewhere)['theme']).toBe('light');
      userOf(elsewhere)['theme'] = 'blue';
      await elsewhere.flush();
      await elsewhere.ledger.release();
      expect(await storedTheme()).toBe('dark');
      const forkOfFork = await open(store).sessions.fork('fork');
      userOf(forkOfFork)['theme'] = 'red';
      await forkOfFork.flush();
      expect(await storedTheme()).toBe('dark');
    });

    test('is never without its decision, whenever its maker dies', async () => {
      await withTheme('s');
      // As if the process ended at the first write that follows the fork itself.
      const dying: Store = {
        ...store,
        for: (scope) =>
          new Proxy(store.for(scope), {
            get: (target, name: keyof LedgerStore) => {
              if (name === 'append' || name === 'claim')
                return () => Promise.reject(new Error('died'));
              const member = target[name] as (...args: unknown[]) => unknown;
              return member.bind(target);
            },
          }),
      };
      await open(dying)
        .sessions.fork('s', { id: 'isolated' })
        .catch(() => undefined);
      await open(dying)
        .sessions.fork('s', { id: 'live', shared: 'live' })
        .catch(() => undefined);
      const ledgers = store.for({ tenant: 'default', app });
      for (const id of ['isolated', 'live']) {
        // Whoever claims it next finds what becomes of its shared scopes.
        await ledgers.release(await ledgers.claim(id, 'sweeper', { ttlMs: 1_000 }));
        const fork = await open(store).sessions.open({ id });
        expect(fork.events.at(-1)).toMatchObject({
          type: 'decision',
          component: 'fork',
          decision: id,
          data: { session: id, from: 's' },
        });
        userOf(fork)['theme'] = id;
        await fork.flush();
        expect(await storedTheme()).toBe(id === 'live' ? 'live' : 'dark');
      }
    });

    test('takes part in shared state when it is told to', async () => {
      await withTheme('s');
      const fork = await open(store).sessions.fork('s', { id: 'fork', shared: 'live' });
      userOf(fork)['theme'] = 'light';
      await fork.flush();
      await fork.ledger.release();
      expect(await storedTheme()).toBe('light');
      const elsewhere = await open(store).sessions.open({ id: 'fork' });
      userOf(elsewhere)['theme'] = 'blue';
      await elsewhere.flush();
      await elsewhere.ledger.release();
      expect(await storedTheme()).toBe('blue');
      const isolated = await open(store).sessions.fork('fork');
      userOf(isolated)['theme'] = 'red';
      await isolated.flush();
      expect(await storedTheme()).toBe('blue');
    });

    test(
      'whose maker died before it said what becomes of shared state keeps it ' + 'to itself',
      async () => {
        await withTheme('s');
        const ledgers = store.for({ tenant: 'default', app });
        await ledgers.fork('s', (await ledgers.head('s'))?.seq ?? 0, 'half');
        const fork = await open(store).sessions.open({ id: 'half' });
        userOf(fork)['theme'] = 'light';
        await fork.flush();
        await fork.ledger.release();
        const elsewhere = await open(store).sessions.open({ id: 'half' });
        userOf(elsewhere)['theme'] = 'blue';
        await elsewhere.flush();
        expect(await storedTheme()).toBe('dark');
      },
    );

    test(
      'a restored copy keeps shared state to itself too, in every process ' + 'that opens it',
      async () => {
        await withTheme('s');
        const snapshot = (await open(store).sessions.open({ id: 's' })).toJSON();
        const copy = await open(store).sessions.restore({ ...snapshot, id: 'copy' });
        const at = snapshot.events.length;
        expect(copy.events.slice(0, at)).toEqual(snapshot.events);
        expect(copy.events.slice(at)).toMatchObject([
          {
            type: 'decision',
            component: 'fork',
            decision: 'isolated',
            data: { session: 'copy', at },
          },
        ]);
        await copy.ledger.release();
        const elsewhere = await open(store).sessions.open({ id: 'copy' });
        expect(userOf(elsewhere)['theme']).toBe('dark');
        userOf(elsewhere)['theme'] = 'blue';
        await elsewhere.flush();
        expect(await storedTheme()).toBe('dark');
        const again = await open(store).sessions.restore({ ...elsewhere.toJSON(), id: 'again' });
        expect(again.events.filter(({ type }) => type === 'decision')).toHaveLength(1);
      },
    );

    test('a restored copy without shared state is the same, event for event', async () => {
      const events = changes(3);
      const copy = await open(store).sessions.restore({ app, id: 'copy', events });
      expect(copy.events).toEqual(events);
    });

    test(
      'answers an attempt that is open in the shared part by the recovery ' + 'of its tool',
      async () => {
        const keys: string[] = [];
        const entered = Promise.withResolvers<void>();
        const pay = (execute: (key: string, signal: AbortSignal) => unknown) =>
          tool({
            name: 'pay',
            description: 'Pays',
            schema: z.object({}),
            recovery: 'rerun',
            execute: async ({ idempotencyKey, signal }) => {
              keys.push(idempotencyKey);
              return (await execute(idempotencyKey, signal)) as string;
            },
          });
        const calls = [{ name: 'pay', args: {} }];
        const waiting = pay((_key, signal) => {
          entered.resolve();
          return new Promise((resolve) =>
            signal.addEventListener('abort', () => resolve('stopped')),
          );
        });
        const working = open(store);
        const first = working.run(
          agent({ name: 'payer', model: scriptedModel([{ toolCalls: calls }]), tools: [waiting] }),
          {
            session: 's',
            input: 'Pay',
          },
        );
        await entered.promise;
        // The original is in the middle of its call.
        await (await working.sessions.open({ id: 's' })).flush();
        const forking = open(store);
        const head = await store.for({ tenant: 'default', app }).head('s');
        const fork = await forking.sessions.fork('s', { at: head?.seq ?? 0 });
        const payer = agent({
          name: 'payer',
          model: scriptedModel([{ text: 'done' }]),
          tools: [pay(() => 'paid')],
        });
        expect(await forking.run(payer, { session: fork })).toMatchObject({
          status: 'completed',
          toolCalls: [{ success: true }],
        });
        expect(keys).toHaveLength(2);
        expect(keys[1]).toBe(keys[0]);
        first.stop();
        await expect(first).rejects.toMatchObject({ code: 'run_stopped' });
        await working.close();
        store = place.open();
      },
    );

    test('refuses what cannot be forked', async () => {
      await write(store, 's', changes(3));
      const forking = open(store);
      await expect(forking.sessions.fork('unknown')).rejects.toMatchObject({
        code: 'session_not_found',
      });
      await expect(forking.sessions.fork('s', { id: 's' })).rejects.toMatchObject({
        code: 'session_exists',
      });
      for (const at of [-1, 0.5, 4])
        await expect(forking.sessions.fork('s', { at })).rejects.toMatchObject({
          code: 'seq_out_of_range',
        });
      await expect(forking.sessions.fork('s', { shared: 'both' as 'live' })).rejects.toMatchObject({
        code: 'invalid_run',
      });
      const empty = await forking.sessions.fork('s', { at: 0, id: 'empty' });
      expect(empty.events).toMatchObject([{ type: 'decision', component: 'fork' }]);
    });
  });
});
