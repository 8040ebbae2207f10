import { codeOf, farAway, inboxItem, longAgo, ttl, Writer } from '../harness.ts';
import { withOtherProcess } from '../other-process.ts';
import type { Suite } from '../suite.ts';
import { cancelItem, giveBack, submit, take, takeAll } from './queue-harness.ts';

/** Promise of turns: what may run, when, and who has it. */
export function turnContract(suite: Suite): void {
  makingContract(suite);
  listingContract(suite);
  takingContract(suite);
  dueContract(suite);
  lostContract(suite);
  restingContract(suite);
  givingBackContract(suite);
  controlContract(suite);
}

function makingContract({ describe, expect, test }: Suite): void {
  describe('turn', () => {
    test('is made by a post with its settings, and ends with a patch', async ({ ledgers }) => {
      const { now } = await submit(ledgers, 's', { level: 3, queue: 'mail', requester: 'ann' });
      const turn = await ledgers.turn('s');
      expect(turn).toMatchObject({
        ...{ tenant: 'acme', app: 'shop', session: 's', queue: 'mail', level: 3 },
        ...{ requester: 'ann', runnable: '', state: 'ready', suspended: false, attempts: 1 },
      });
      expect(Math.abs((turn?.since ?? 0) - now) < 1_000).toBe(true);
      expect(await ledgers.turn('none')).toBe(undefined);
      await ledgers.post('s', inboxItem('end'), { turn: { to: 'none' } });
      expect(await ledgers.turn('s')).toBe(undefined);
    });

    test('is not made by the change of one that has ended', async ({ store, ledgers }) => {
      const changes = [{ suspended: true }, { toFront: true }, { leave: true }, { level: 2 }];
      for (const [i, turn] of changes.entries()) {
        await ledgers.post(`s${i}`, inboxItem('late'), { open: true, wakes: false, turn });
        expect(await ledgers.turn(`s${i}`)).toBe(undefined);
      }
      expect(await takeAll(store)).toEqual([]);
    });

    test('keeps its run when another one is posted to the session, at the better level', async ({
      store,
      ledgers,
    }) => {
      await submit(ledgers, 's', { run: 'first', level: 3, requester: 'ann' });
      const post = (key: string, level: number) =>
        ledgers.post('s', inboxItem(key), { turn: { run: key, level, to: 'ready' } });
      await post('second', 1);
      await post('third', 4);
      expect(await ledgers.turn('s')).toMatchObject({ run: 'first', level: 1, requester: 'ann' });
      const { taken } = await take(store, { slots: 1 });
      expect(taken[0]?.turn).toMatchObject({ run: 'first', level: 1 });
      // One that is taken, or rests, goes on as it is.
      await post('fourth', 0);
      expect(await ledgers.turn('s')).toMatchObject({ run: 'first', level: 0, state: 'taken' });
    });

    test('changes with an append, and a batch that is sent again changes it once', async ({
      ledgers,
    }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { turn: { level: 2, to: 'resting' } });
      expect(await ledgers.turn('s')).toMatchObject({ level: 2, state: 'resting', readyAt: null });
      await ledgers.post('s', inboxItem('k'));
      expect(await ledgers.turn('s')).toMatchObject({ state: 'ready' });
    });
  });
}

function listingContract({ describe, expect, test }: Suite): void {
  describe('turn', () => {
    test('is listed with the longest ready first, by queue and state', async ({
      ledgers,
      advance,
    }) => {
      await submit(ledgers, 'a');
      advance(1);
      await submit(ledgers, 'b', { queue: 'mail' });
      advance(1);
      await submit(ledgers, 'c', { to: 'resting' });
      const sessions = async (filter: Parameters<typeof ledgers.turns>[0]) =>
        (await ledgers.turns(filter)).map(({ session }) => session);
      expect(await sessions({})).toEqual(['a', 'b', 'c']);
      expect(await sessions({ limit: 2 })).toEqual(['a', 'b']);
      expect(await sessions({ queue: 'mail' })).toEqual(['b']);
      expect(await sessions({ state: 'resting' })).toEqual(['c']);
      expect(await codeOf(ledgers.turns({ limit: 0 }))).toBe('RangeError');
    });

    test('is not there for forks, and goes with its session', async ({ store, ledgers }) => {
      await submit(ledgers, 's');
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a']);
      await ledgers.release(writer.claim);
      await ledgers.fork('s', 1, 'fork');
      expect(await ledgers.turn('fork')).toBe(undefined);
      await ledgers.delete('s');
      expect(await ledgers.turn('s')).toBe(undefined);
      expect(await takeAll(store)).toEqual([]);
    });
  });
}

function takingContract({ describe, expect, test }: Suite): void {
  describe('take', () => {
    test('claims what it chooses, and the lease keeps it from others', async ({
      store,
      ledgers,
    }) => {
      await submit(ledgers, 's');
      const { taken } = await take(store);
      expect(taken).toMatchObject([{ tenant: 'acme', session: 's', isControl: false }]);
      expect(taken[0]?.turn).toMatchObject({ state: 'taken' });
      expect(await takeAll(store, { owner: 'other' })).toEqual([]);
      expect(await codeOf(ledgers.claim('s', 'other', { ttlMs: ttl }))).toBe('session_busy');
      const head = await ledgers.head('s');
      expect(taken[0]?.epoch).toBe(head?.epoch);
    });

    test('returns the same again for the same ticket, also after its answer was lost', async ({
      store,
      ledgers,
    }) => {
      await submit(ledgers, 'a');
      await submit(ledgers, 'b');
      const first = await take(store, { ticket: 'one' });
      const again = await take(store, { ticket: 'one' });
      expect(again.taken.map(({ session, epoch }) => [session, epoch])).toEqual(
        first.taken.map(({ session, epoch }) => [session, epoch]),
      );
      expect(await takeAll(store)).toHaveLength(1);
    });

    test('takes at most the free places, of the queues, names and levels asked for', async ({
      store,
      ledgers,
    }) => {
      for (const session of ['a', 'b', 'c']) await submit(ledgers, session);
      await submit(ledgers, 'mail', { queue: 'mail' });
      await submit(ledgers, 'named', { runnable: 'writer' });
      await submit(ledgers, 'low', { level: 3 });
      expect((await take(store, { slots: 2 })).taken).toHaveLength(2);
      expect((await take(store, { slots: 0 })).taken).toHaveLength(0);
      expect(await takeAll(store, { queues: ['mail'] })).toEqual(['mail']);
      expect(await takeAll(store, { names: ['reader'], levels: [1] })).toHaveLength(1);
      expect(await takeAll(store, { levels: [3] })).toEqual(['low']);
      expect(await takeAll(store, { names: ['writer'] })).toEqual(['named']);
    });
  });
}

function dueContract({ describe, expect, test }: Suite): void {
  describe('take', () => {
    test('is for one app, and for one tenant if it is named', async ({ store, ledgers }) => {
      await submit(ledgers, 'a');
      await submit(store.for({ tenant: 'acme', app: 'other' }), 'b');
      await submit(store.for({ tenant: 'zeta', app: 'shop' }), 'c');
      expect(await takeAll(store, { tenant: 'zeta' })).toEqual(['c']);
      expect(await takeAll(store, { app: 'other' })).toEqual(['b']);
      expect(await takeAll(store)).toEqual(['a']);
    });

    test('takes sessions that are due and have no turn, for as long as they are worked on', async ({
      store,
      ledgers,
    }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { wakeAt: longAgo });
      await ledgers.release(writer.claim);
      const { taken } = await take(store);
      expect(taken).toMatchObject([{ session: 's', turn: { level: 1 } }]);
      const next = new Writer(ledgers, { ...writer.claim, epoch: taken[0]?.epoch ?? 0, seq: 1 });
      await next.write(['b'], { wakeAt: farAway });
      await ledgers.release(next.claim);
      expect(await ledgers.turn('s')).toBe(undefined);
      expect(await takeAll(store)).toEqual([]);
    });

    test('leaves no turn of such a session behind, also when it was given back', async ({
      store,
      ledgers,
      advance,
    }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a'], { wakeAt: longAgo });
      await ledgers.release(writer.claim);
      const [first] = (await take(store)).taken;
      const release = { ...writer.claim, owner: 'worker', epoch: first?.epoch ?? 0 };
      const { now } = writer.claim;
      await ledgers.release(release, { turn: { to: 'ready', at: now + 5_000 } });
      expect(await takeAll(store)).toEqual([]);
      advance(6_000);
      const [second] = (await take(store)).taken;
      const next = new Writer(ledgers, { ...release, epoch: second?.epoch ?? 0, seq: 1 });
      await next.write(['b'], { wakeAt: farAway });
      await ledgers.release(next.claim);
      expect(await ledgers.turns({})).toEqual([]);
    });
  });
}

function lostContract({ describe, expect, test }: Suite): void {
  describe('take', () => {
    test('is at once what a process of this machine had that no longer exists', async ({
      store,
      ledgers,
    }) => {
      await withOtherProcess(async ({ owner, kill }) => {
        await submit(ledgers, 's');
        expect(await takeAll(store, { owner })).toEqual(['s']);
        expect(await takeAll(store)).toEqual([]);
        await kill();
        expect(await takeAll(store)).toEqual(['s']);
      });
    });

    test('is what somebody had whose lease is over, at its old place', async ({
      store,
      ledgers,
      advance,
    }) => {
      await submit(ledgers, 'first');
      await takeAll(store);
      advance(1_000);
      await submit(ledgers, 'second');
      const since = (await ledgers.turn('first'))?.since;
      advance(ttl);
      expect((await take(store)).taken).toMatchObject([{ session: 'first', turn: { since } }]);
    });
  });
}

function restingContract({ describe, expect, test }: Suite): void {
  describe('turn', () => {
    test('is ready from its instant on, and ready since then', async ({
      store,
      ledgers,
      advance,
    }) => {
      const { now } = await submit(ledgers, 'now');
      const at = now + 5_000;
      await submit(ledgers, 'later', { to: 'ready', at });
      expect(await takeAll(store)).toEqual(['now']);
      expect((await take(store)).nextAt).toBe(at);
      advance(6_000);
      expect((await take(store)).taken).toMatchObject([{ session: 'later', turn: { since: at } }]);
    });

    test('rests when its session has nothing to do, and queues anew when something comes', async ({
      store,
      ledgers,
      advance,
    }) => {
      await submit(ledgers, 's', { level: 2 });
      const { taken } = await take(store);
      const claim = { session: 's', owner: 'worker', seq: 0, inboxSeq: 1, until: 0, now: 0 };
      const writer = new Writer(ledgers, { ...claim, epoch: taken[0]?.epoch ?? 0 });
      await writer.write(['asks'], { consumes: [1], wakeAt: null });
      await ledgers.release(writer.claim);
      expect(await ledgers.turn('s')).toMatchObject({ state: 'resting', level: 2 });
      advance(10_000);
      const { now } = await ledgers.post('s', inboxItem('answer'));
      expect(await ledgers.turn('s')).toMatchObject({ state: 'ready', since: now });
    });

    test('is not woken by an item that only informs', async ({ store, ledgers }) => {
      await submit(ledgers, 's', { to: 'resting' }, { wakes: false });
      await ledgers.post('s', inboxItem('note'), { wakes: false });
      expect(await ledgers.turn('s')).toMatchObject({ state: 'resting' });
      const writer = await Writer.claim(ledgers, 'plain');
      await ledgers.release(writer.claim);
      await ledgers.post('plain', inboxItem('note'), { wakes: false });
      expect(await ledgers.due()).toEqual([]);
      expect(await takeAll(store)).toEqual([]);
      expect(await ledgers.inbox('plain')).toHaveLength(1);
    });
  });
}

function givingBackContract({ describe, expect, test }: Suite): void {
  describe('turn', () => {
    test('keeps its place when it is given back with work left', async ({
      store,
      ledgers,
      advance,
    }) => {
      await submit(ledgers, 'a');
      advance(1_000);
      await submit(ledgers, 'b');
      const { taken } = await take(store);
      advance(1_000);
      for (const each of taken) await giveBack(ledgers, each);
      expect(await takeAll(store)).toEqual(['a', 'b']);
    });

    test('is not taken while it is suspended, and goes back to its place', async ({
      store,
      ledgers,
      advance,
    }) => {
      await submit(ledgers, 'a');
      advance(1_000);
      await submit(ledgers, 'b');
      await ledgers.post('a', inboxItem('suspend'), { wakes: false, turn: { suspended: true } });
      await ledgers.post('a', inboxItem('more'));
      expect(await takeAll(store)).toEqual(['b']);
      await ledgers.post('a', inboxItem('resume'), { wakes: false, turn: { suspended: false } });
      expect(await takeAll(store)).toEqual(['a']);
    });

    test('counts the time to its deadlines in the queue and at work, not while it rests', async ({
      store,
      ledgers,
      advance,
    }) => {
      const { now } = await submit(ledgers, 's', { softMs: 10_000, hardMs: 20_000 });
      expect(await ledgers.turn('s')).toMatchObject({ softAt: now + 10_000, hardAt: now + 20_000 });
      advance(1_000);
      const { taken } = await take(store);
      advance(1_000);
      for (const each of taken) await giveBack(ledgers, each, { to: 'resting' });
      const resting = await ledgers.turn('s');
      expect([resting?.softAt, resting?.hardAt]).toEqual([undefined, undefined]);
      advance(3_600_000);
      const woken = (await ledgers.post('s', inboxItem('answer'))).now;
      expect(await ledgers.turn('s')).toMatchObject({
        softAt: woken + 8_000,
        hardAt: woken + 18_000,
      });
    });
  });
}

function controlContract({ describe, expect, test }: Suite): void {
  describe('take', () => {
    test('takes control work without a free place, key or patience', async ({ store, ledgers }) => {
      const key = { name: 'k', limit: 1 };
      await submit(ledgers, 'holder', { key });
      await takeAll(store);
      await submit(ledgers, 'behind', { key });
      await submit(ledgers, 'suspended', { suspended: true });
      expect((await take(store, { slots: 0 })).taken).toEqual([]);
      for (const session of ['behind', 'suspended'])
        await ledgers.post(session, cancelItem(`cancel ${session}`));
      const { taken } = await take(store, { slots: 0 });
      expect(taken.map(({ session, isControl }) => [session, isControl]).sort()).toEqual([
        ['behind', true],
        ['suspended', true],
      ]);
      for (const each of taken) await giveBack(ledgers, each, { to: 'none' });
      expect(await ledgers.turn('behind')).toBe(undefined);
    });

    test('takes control work again that a lost worker had taken', async ({
      store,
      ledgers,
      advance,
    }) => {
      await submit(ledgers, 's', { suspended: true });
      await ledgers.post('s', cancelItem('cancel'));
      const control = [{ session: 's', isControl: true }];
      expect((await take(store, { slots: 0 })).taken).toMatchObject(control);
      expect((await take(store, { slots: 0 })).taken).toEqual([]);
      advance(2 * ttl);
      expect((await take(store, { slots: 0 })).taken).toMatchObject(control);
    });

    test('takes what has passed its hard deadline, without a free place', async ({
      store,
      ledgers,
      advance,
    }) => {
      await submit(ledgers, 's', { hardMs: 5_000 });
      expect((await take(store, { slots: 0 })).taken).toEqual([]);
      advance(5_000);
      expect((await take(store, { slots: 0 })).taken).toMatchObject([
        { session: 's', isControl: true },
      ]);
    });
  });
}
