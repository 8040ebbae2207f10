import { codeOf, inboxItem, ttl } from '../harness.ts';
import type { Suite } from '../suite.ts';
import { giveBack, submit, take, takeAll } from './queue-harness.ts';

/** Promise of concurrency keys, rates, limits of queues, coalescing and admission. */
export function keyContract(suite: Suite): void {
  concurrencyContract(suite);
  placesContract(suite);
  rateContract(suite);
  admissionContract(suite);
}

function concurrencyContract({ describe, expect, test }: Suite): void {
  describe('concurrency key', () => {
    const key = { name: 'printer', limit: 2 };

    test('lets as many turns be taken as it has places', async ({ store, ledgers, advance }) => {
      for (const session of ['a', 'b', 'c', 'd']) {
        await submit(ledgers, session, { key });
        advance(1);
      }
      expect(await ledgers.turn('c')).toMatchObject({ state: 'behind' });
      const { taken } = await take(store, { slots: 10 });
      expect(taken.map(({ session }) => session)).toEqual(['a', 'b']);
      expect(await ledgers.explainTurn('c', {})).toMatchObject({
        block: { kind: 'key', key: 'printer', holders: ['a', 'b'] },
      });
      for (const each of taken.slice(0, 1)) await giveBack(ledgers, each, { to: 'none' });
      expect(await takeAll(store)).toEqual(['c']);
    });

    test('is held until the turn ends when it is held by the task', async ({ store, ledgers }) => {
      const one = { name: 'desk', limit: 1, hold: 'task' } as const;
      await submit(ledgers, 'a', { key: one });
      await submit(ledgers, 'b', { key: one });
      const [first] = (await take(store)).taken;
      if (first !== undefined) await giveBack(ledgers, first, { to: 'resting' });
      expect(await takeAll(store)).toEqual([]);
      await ledgers.delete('a');
      expect(await takeAll(store)).toEqual(['b']);
    });
  });
}

function placesContract({ describe, expect, test }: Suite): void {
  describe('concurrency key', () => {
    test('is checked by every claim', async ({ store, ledgers }) => {
      const one = { name: 'desk', limit: 1 };
      await submit(ledgers, 'a', { key: one });
      await submit(ledgers, 'b', { key: one });
      const [first] = (await take(store)).taken;
      expect(await codeOf(ledgers.claim('b', 'other', { ttlMs: ttl }))).toBe('key_busy');
      if (first !== undefined) await giveBack(ledgers, first, { to: 'none' });
      expect(await codeOf(ledgers.claim('b', 'other', { ttlMs: ttl }))).toBe('resolved');
      expect(await ledgers.turn('b')).toMatchObject({ state: 'taken' });
    });

    test('is free again when the lease of its holder is over', async ({
      store,
      ledgers,
      advance,
    }) => {
      const one = { name: 'desk', limit: 1 };
      await submit(ledgers, 'a', { key: one });
      await takeAll(store);
      advance(1);
      await submit(ledgers, 'b', { key: one });
      advance(ttl);
      expect(await takeAll(store, { slots: 5 })).toEqual(['a']);
    });

    test('a queue has a limit over all workers', async ({ store, ledgers }) => {
      for (const session of ['a', 'b', 'c']) await submit(ledgers, session);
      const queueLimits = { default: 2 };
      expect(await takeAll(store, { queueLimits, slots: 5 })).toHaveLength(2);
      const waiting = (await ledgers.turns({ state: 'ready' }))[0]?.session ?? '';
      expect(await ledgers.explainTurn(waiting, { queueLimits })).toMatchObject({
        block: { kind: 'queue_limit', queue: 'default', limit: 2 },
      });
    });
  });
}

function rateContract({ describe, expect, test }: Suite): void {
  describe('rate key', () => {
    test('spreads turns evenly, and only one has the next instant', async ({
      store,
      ledgers,
      advance,
    }) => {
      const rate = { name: 'mail', limit: 2, perMs: 10_000 };
      for (const session of ['a', 'b', 'c']) {
        await submit(ledgers, session, { rate });
        advance(1);
      }
      // Nobody has used the key yet, so that its next place is there now.
      expect(await ledgers.explainTurn('b', {})).toMatchObject({
        block: { kind: 'rate', key: 'mail', at: await ledgers.now() },
      });
      const { now, taken } = await take(store, { slots: 5 });
      expect(taken.map(({ session }) => session)).toEqual(['a']);
      expect(await ledgers.explainTurn('b', {})).toMatchObject({
        block: { kind: 'rate', key: 'mail', at: now + 5_000 },
      });
      expect(await ledgers.turn('c')).toMatchObject({ state: 'behind' });
      advance(5_000);
      expect(await takeAll(store, { slots: 5 })).toEqual(['b']);
      advance(5_000);
      expect(await takeAll(store, { slots: 5 })).toEqual(['c']);
    });

    test('lets others go while the turn that was next is suspended', async ({
      store,
      ledgers,
      advance,
    }) => {
      const rate = { name: 'mail', limit: 1, perMs: 5_000 };
      for (const session of ['a', 'b', 'c']) {
        await submit(ledgers, session, { rate });
        advance(1);
      }
      expect(await takeAll(store, { slots: 5 })).toEqual(['a']);
      await ledgers.post('b', inboxItem('hold'), { wakes: false, turn: { suspended: true } });
      advance(5_000);
      expect(await takeAll(store, { slots: 5 })).toEqual(['c']);
      advance(5_000);
      await ledgers.post('b', inboxItem('on'), { wakes: false, turn: { suspended: false } });
      expect(await takeAll(store, { slots: 5 })).toEqual(['b']);
    });
  });
}

function admissionContract({ describe, expect, test }: Suite): void {
  describe('post', () => {
    test('refuses a turn more than may wait, and adds nothing', async ({ store, ledgers }) => {
      const levels = [0, 1, null, null, null];
      const admit = { levels, total: 3, requester: 2 };
      expect(await codeOf(submit(ledgers, 'realtime', { level: 0 }, { admit }))).toBe('queue_full');
      await submit(ledgers, 'a', { requester: 'ann' }, { admit });
      expect(await codeOf(submit(ledgers, 'b', {}, { admit }))).toBe('queue_full');
      expect(await ledgers.head('b')).toBe(undefined);
      await submit(ledgers, 'c', { level: 2, requester: 'ann' }, { admit });
      expect(await codeOf(submit(ledgers, 'd', { level: 2, requester: 'ann' }, { admit }))).toBe(
        'queue_full',
      );
      await submit(ledgers, 'e', { level: 2 }, { admit });
      expect(await codeOf(submit(ledgers, 'f', { level: 3 }, { admit }))).toBe('queue_full');
      // The same post again is no new one.
      expect(await submit(ledgers, 'a', { requester: 'ann' }, { admit })).toMatchObject({
        duplicate: true,
      });
      await takeAll(store);
      await submit(ledgers, 'f', { level: 3 }, { admit });
    });

    test('joins a turn with the same coalescing key that has not begun', async ({
      store,
      ledgers,
    }) => {
      const same = { coalesceKey: 'k', requester: 'ann', level: 3 };
      await submit(ledgers, 'a', { ...same, run: 'run 1', hardMs: 60_000 });
      const joined = await submit(ledgers, 'b', { ...same, level: 2, hardMs: 1_000 });
      expect(joined).toMatchObject({ joined: { session: 'a', run: 'run 1' } });
      expect(await ledgers.head('b')).toBe(undefined);
      expect(await submit(ledgers, 'b', { ...same, level: 2 })).toMatchObject({ duplicate: true });
      const turn = await ledgers.turn('a');
      expect(turn).toMatchObject({ level: 2, interests: 2 });
      expect((turn?.hardAt ?? 0) - (turn?.since ?? 0) < 60_000).toBe(true);
      const foreign = store.for({ tenant: 'zeta', app: 'shop' });
      expect((await submit(foreign, 'b', same)).joined).toBe(undefined);
      expect((await submit(ledgers, 'c', { ...same, requester: 'bob' })).joined).toBe(undefined);
      await takeAll(store);
      expect((await submit(ledgers, 'd', same)).joined).toBe(undefined);
    });

    test('ends one interest in a joined turn, and acts for the last only', async ({ ledgers }) => {
      const same = { coalesceKey: 'k' };
      await submit(ledgers, 'a', same);
      await submit(ledgers, 'b', same);
      const leave = (key: string) => ledgers.post('a', { ...item, key }, { turn: { leave: true } });
      expect(await leave('one')).toMatchObject({ left: true });
      expect(await leave('one')).toMatchObject({ duplicate: true });
      expect(await ledgers.inbox('a')).toHaveLength(1);
      expect((await leave('two')).left).toBe(undefined);
      expect(await ledgers.inbox('a')).toHaveLength(2);
    });
  });
}

const item = {
  key: 'leave',
  lane: 'control' as const,
  by: 'user' as const,
  at: 1,
  type: 'cancel' as const,
  data: {},
};
