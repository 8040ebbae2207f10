import { inboxItem, ttl } from '../harness.ts';
import type { ContractTest, Suite } from '../suite.ts';
import { giveBack, submit, take, takeAll } from './queue-harness.ts';

/** Promise of the order in which turns are taken. */
export function orderContract(suite: Suite): void {
  levelContract(suite);
  frontContract(suite);
  shareContract(suite);
  chargeContract(suite);
}

function levelContract({ describe, expect, test }: Suite): void {
  describe('order', () => {
    test('is by level, and a level that has waited 300 s longer overtakes', async ({
      store,
      ledgers,
      advance,
    }) => {
      await submit(ledgers, 'background', { level: 4 });
      advance(900_001);
      await submit(ledgers, 'high', { level: 1 });
      await submit(ledgers, 'normal', { level: 2 });
      expect(await takeAll(store)).toEqual(['background', 'high', 'normal']);
    });

    test('has level 0 first, in places of its own', async ({ store, ledgers, advance }) => {
      await submit(ledgers, 'old', { level: 1 });
      advance(86_400_000);
      await submit(ledgers, 'realtime', { level: 0 });
      const reserved = await take(store, { slots: 0, realtimeSlots: 1 });
      expect(reserved.taken.map(({ session }) => session)).toEqual(['realtime']);
      await submit(ledgers, 'again', { level: 0 });
      expect((await take(store, { slots: 1 })).taken).toMatchObject([{ session: 'again' }]);
      expect(await takeAll(store)).toEqual(['old']);
    });
  });
}

function frontContract({ describe, expect, test }: Suite): void {
  describe('order', () => {
    test('has what was put to the front first, whatever its level and flow', async ({
      store,
      ledgers,
      advance,
    }) => {
      for (const session of ['a', 'b']) {
        await submit(ledgers, session, { level: 1, requester: session });
        advance(1);
      }
      await submit(ledgers, 'c', { level: 4 });
      await ledgers.post('c', { ...item('front'), key: 'front' }, { turn: { toFront: true } });
      expect(await takeAll(store)).toEqual(['c', 'a', 'b']);
    });

    test('explains the place of a turn by the same order', async ({ store, ledgers, advance }) => {
      for (const [session, level] of [
        ['first', 1],
        ['second', 2],
        ['third', 2],
      ] as const) {
        await submit(ledgers, session, { level });
        advance(1);
      }
      const countBefore = async (session: string) =>
        (await ledgers.explainTurn(session, {}))?.before;
      expect([
        await countBefore('first'),
        await countBefore('second'),
        await countBefore('third'),
      ]).toEqual([0, 1, 2]);
      expect(await ledgers.explainTurn('none', {})).toBe(undefined);
      const scope = { queues: ['mail'] };
      expect(await ledgers.explainTurn('first', scope)).toMatchObject({
        block: { kind: 'out_of_scope' },
      });
      await take(store);
      expect(await ledgers.explainTurn('first', {})).toMatchObject({
        block: { kind: 'taken', owner: 'worker' },
      });
      expect(await countBefore('second')).toBe(0);
    });
  });
}

const item = (key: string) => ({
  key,
  lane: 'input' as const,
  by: 'operator' as const,
  at: 1,
  type: 'wake' as const,
  data: {},
});

/** Takes and gives back turns one by one; each takes as long as it was expected to. */
async function serve(
  { store, advance }: ContractTest,
  count: number,
  weights: Readonly<Record<string, number>> = {},
): Promise<Readonly<Record<string, number>>> {
  const served: Record<string, number> = {};
  for (let i = 0; i < count; i++) {
    const { taken } = await take(store, { weights: { tenants: weights } });
    for (const each of taken) {
      served[each.tenant] = (served[each.tenant] ?? 0) + 1;
      advance(1_000);
      const { tenant } = each;
      await giveBack(store.for({ tenant, app: 'shop' }), each, { to: 'none' });
    }
  }
  return served;
}

function shareContract({ describe, expect, test }: Suite): void {
  describe('order', () => {
    test('gives each tenant its share, however many turns another one has', async (context) => {
      const { store } = context;
      for (let i = 0; i < 40; i++)
        await submit(store.for({ tenant: 'flood', app: 'shop' }), `f${i}`, { level: 2 });
      for (const tenant of ['one', 'two'])
        for (let i = 0; i < 8; i++)
          await submit(store.for({ tenant, app: 'shop' }), `${tenant}${i}`, { level: 2 });
      expect(await serve(context, 24)).toEqual({ flood: 8, one: 8, two: 8 });
    });

    test('gives shares by weight', async (context) => {
      const { store } = context;
      for (const tenant of ['one', 'three'])
        for (let i = 0; i < 24; i++)
          await submit(store.for({ tenant, app: 'shop' }), `${tenant}${i}`, { level: 2 });
      const { one = 0, three = 0 } = await serve(context, 24, { three: 3 });
      expect([one + three, Math.abs(three - 18) <= 1]).toEqual([24, true]);
    });

    test('gives every 32nd turn of a level to its oldest', async (context) => {
      const { ledgers } = context;
      // New requesters come all the time: each begins with the least share of all.
      await submit(ledgers, 'old', { requester: 'patient', estimateMs: 1_000_000 });
      await submit(ledgers, 'old 2', { requester: 'patient', estimateMs: 1_000_000 });
      const sessions: string[] = [];
      for (let i = 0; i < 40; i++) {
        context.advance(1);
        await submit(ledgers, `new ${i}`, { requester: `r${i}` });
        const { taken } = await take(context.store);
        sessions.push(...taken.map(({ session }) => session));
      }
      expect(sessions.includes('old 2')).toBe(true);
    });
  });
}

function chargeContract({ describe, expect, test }: Suite): void {
  describe('order', () => {
    test('charges the flow to which a turn moves while it is taken', async (context) => {
      const { store, ledgers, advance } = context;
      await submit(ledgers, 'moved', { level: 1, requester: 'moving', estimateMs: 1_000_000 });
      for (const requester of ['moving', 'other'])
        for (let i = 0; i < 4; i++)
          await submit(ledgers, `${requester} ${i}`, { level: 2, requester });
      const [moved] = (await take(store)).taken;
      await ledgers.post('moved', inboxItem('lower'), { wakes: false, turn: { level: 2 } });
      advance(1_000);
      if (moved !== undefined) await giveBack(ledgers, moved, { to: 'none' });
      const sessions = [];
      for (let i = 0; i < 4; i++)
        for (const each of (await take(store)).taken) {
          sessions.push(each.session);
          advance(1_000);
          await giveBack(ledgers, each, { to: 'none' });
        }
      // The time that it has really worked is charged: the estimate is no credit.
      expect([moved?.session, ...sessions]).toEqual([
        'moved',
        ...['other 0', 'moving 0', 'other 1', 'moving 1'],
      ]);
    });

    test('charges a lost worker for no longer than it had the turn', async (context) => {
      const { store, ledgers, advance } = context;
      await submit(ledgers, 'lost', { requester: 'killed', estimateMs: 1_000_000 });
      for (let i = 0; i < 3; i++) await submit(ledgers, `other ${i}`, { requester: 'other' });
      expect((await take(store)).taken).toMatchObject([{ session: 'lost' }]);
      // Its worker is gone.
      advance(ttl);
      const sessions: string[] = [];
      for (let i = 0; i < 2; i++)
        for (const each of (await take(store)).taken) {
          sessions.push(each.session);
          advance(3 * ttl);
          await giveBack(ledgers, each, { to: 'none' });
        }
      expect(sessions).toEqual(['other 0', 'lost']);
    });

    test('charges what was really worked', async (context) => {
      const { store, ledgers, advance } = context;
      for (const requester of ['slow', 'quick'])
        for (let i = 0; i < 6; i++) await submit(ledgers, `${requester} ${i}`, { requester });
      const sessions: string[] = [];
      for (let i = 0; i < 6; i++) {
        const { taken } = await take(store);
        for (const each of taken) {
          sessions.push(each.session);
          advance(each.session.startsWith('slow') ? 10_000 : 100);
          await giveBack(ledgers, each, { to: 'none' });
        }
      }
      expect(sessions.filter((session) => session.startsWith('slow'))).toHaveLength(1);
    });
  });
}
