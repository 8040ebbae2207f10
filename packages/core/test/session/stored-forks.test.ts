import { agent, type Event, type Store, sequence, step, tool } from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import { scriptedModel } from 'adjutant/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { arbitraryLedger } from '../arbitrary-ledger.ts';
import { type StorePlace, storePlaces } from '../store-places.ts';
import { app, changes, open, write } from './written-ledger.ts';

function userOf({ state }: { readonly state: object }): Record<string, unknown> {
  return (state as { user: Record<string, unknown> }).user;
}

function mutations(events: readonly Event[]) {
  return events.flatMap((event) =>
    event.type === 'state_change' && event.source === 'mutation' ? event.changes : [],
  );
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

    test('waits, and any process may continue it', async () => {
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
        // The next process that claims it finds the fate of its shared scopes.
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
