import type { LedgerStore, RequestRow, SessionRows, Store } from '../../../../ledger/port.ts';
import { answerItem, codeOf, inboxItem, pendingRequest, ttl, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';
import { giveBack, submit, take, takeAll } from './queue-harness.ts';

/** Promise of the replacement of rows that follow from a ledger and its inbox. */
export function replaceContract(suite: Suite): void {
  rowsContract(suite);
  fenceContract(suite);
  placesContract(suite);
  keyContract(suite);
}

/** Replaces rows of a session at its present head. */
async function replace(
  { ledgers, store }: { readonly ledgers: LedgerStore; readonly store: Store },
  session: string,
  rows: SessionRows,
): Promise<boolean> {
  const head = await ledgers.head(session);
  if (head === undefined) throw new Error(`There is no session "${session}".`);
  const at = { tenant: 'acme', app: 'shop', session };
  return (await store.admin.replaceRows(at, head, rows)).replaced;
}

const key = { name: 'desk', limit: 1 };
const settings = { run: 'r', requester: 'ann', level: 2 };
const taskRow = (id: string, status = 'open') => ({
  kind: 'task',
  id,
  status,
  at: 1,
  body: { id },
});

function rowsContract({ describe, expect, test }: Suite): void {
  describe('replaceRows', () => {
    test('replaces the parts that it is given, and no other', async (context) => {
      const { ledgers, store } = context;
      const writer = await Writer.claim(ledgers, 's');
      const requests = [pendingRequest('s', 'q1'), pendingRequest('s', 'q2')];
      const rows = [taskRow('a'), taskRow('b'), { ...taskRow('c'), kind: 'other' }];
      await writer.write(['n1'], { requests, rows, summary: { status: 'active', title: 'T' } });
      await ledgers.release(writer.claim);
      await ledgers.post('s', answerItem('q1'));
      expect(await replace(context, 's', { summary: { status: 'completed', user: 'ann' } })).toBe(
        true,
      );
      expect(await ledgers.requests()).toHaveLength(2);
      const answered: RequestRow = {
        ...pendingRequest('s', 'q2'),
        ...{ status: 'answered', settledBy: 'user:7', settledAt: 5 },
      };
      const listed = { kinds: ['task'], rows: [taskRow('b', 'failed')] };
      expect(await replace(context, 's', { requests: [answered], listed })).toBe(true);
      expect(await ledgers.requests()).toEqual([answered]);
      expect(await ledgers.rows({ kind: 'task' })).toEqual([
        { ...taskRow('b', 'failed'), session: 's' },
      ]);
      expect(await ledgers.rows({ kind: 'other' })).toHaveLength(1);
      const [listing] = await ledgers.list();
      expect(listing).toMatchObject({ id: 's', status: 'completed', user: 'ann', seq: 1 });
      expect(listing?.title).toBe(undefined);
      // Transport stays.
      expect(await ledgers.inbox('s')).toHaveLength(1);
      const head = await store.for({ tenant: 'acme', app: 'shop' }).head('s');
      expect(head).toEqual({ seq: 1, epoch: writer.claim.epoch, inboxSeq: 1 });
    });

    test('reaches no session of another tenant', async ({ ledgers, store }) => {
      await Writer.claim(ledgers, 's');
      const head = { seq: 0, epoch: 1, inboxSeq: 0 };
      const at = { tenant: 'zeta', app: 'shop', session: 's' };
      expect(await codeOf(store.admin.replaceRows(at, head, {}))).toBe('session_not_found');
    });
  });
}

function fenceContract({ describe, expect, test }: Suite): void {
  describe('replaceRows', () => {
    test('is refused while a lease lives, and at another head', async (context) => {
      const { ledgers } = context;
      const writer = await Writer.claim(ledgers, 's');
      const summary = { status: 'error' } as const;
      expect(await codeOf(replace(context, 's', { summary }))).toBe('session_busy');
      await ledgers.release(writer.claim);
      const before = await ledgers.head('s');
      await ledgers.post('s', inboxItem('k'));
      const at = { tenant: 'acme', app: 'shop', session: 's' };
      if (before === undefined) throw new Error('The session is gone.');
      expect((await context.store.admin.replaceRows(at, before, { summary })).replaced).toBe(false);
      expect(await ledgers.list()).toMatchObject([{ status: 'active' }]);
    });

    test('fences off a writer whose lease is over', async (context) => {
      const { ledgers, advance } = context;
      const writer = await Writer.claim(ledgers, 's');
      advance(ttl);
      expect(await replace(context, 's', { requests: [] })).toBe(true);
      expect(await codeOf(writer.write(['late']))).toBe('ledger_conflict');
      expect((await ledgers.head('s'))?.epoch).toBe(writer.claim.epoch + 1);
    });
  });
}

function placesContract({ describe, expect, test }: Suite): void {
  describe('replaceRows', () => {
    test('makes a turn anew as it was, ready or at rest', async (context) => {
      const { ledgers, store, advance } = context;
      await submit(ledgers, 's', { ...settings, softMs: 500, hardMs: 60_000, coalesceKey: 'c' });
      const turn = await ledgers.turn('s');
      if (turn === undefined) throw new Error('The session has no turn.');
      const { since } = turn;
      advance(7_000);
      await replace(context, 's', { turn: null });
      expect(await ledgers.turn('s')).toBe(undefined);
      const rebuilt = { ...settings, since, softMs: 500, hardMs: 60_000, coalesceKey: 'c' };
      await replace(context, 's', { turn: rebuilt });
      expect(await ledgers.turn('s')).toEqual(turn);
      await replace(context, 's', { turn: { ...rebuilt, rests: since + 9_000, attempts: 2 } });
      expect(await ledgers.turn('s')).toMatchObject({ state: 'resting', attempts: 2 });
      expect(await takeAll(store)).toEqual([]);
      advance(2_000);
      expect(await takeAll(store)).toEqual(['s']);
    });

    test('a session without a turn is found by what is due', async (context) => {
      const { ledgers, store } = context;
      await submit(ledgers, 's', settings);
      await replace(context, 's', { turn: null });
      await replace(context, 's', { turn: null });
      expect(await takeAll(store)).toEqual(['s']);
    });
  });
}

function keyContract({ describe, expect, test }: Suite): void {
  describe('replaceRows', () => {
    test('gives the places of a key to the oldest, whichever is made first', async (context) => {
      const { ledgers, store, advance } = context;
      const sinces = new Map<string, number>();
      for (const session of ['a', 'b', 'c']) {
        await submit(ledgers, session, { ...settings, key });
        sinces.set(session, (await ledgers.turn(session))?.since ?? 0);
        advance(1);
      }
      for (const session of ['a', 'b', 'c']) await replace(context, session, { turn: null });
      for (const session of ['c', 'a', 'b']) {
        const since = sinces.get(session) ?? 0;
        await replace(context, session, { turn: { ...settings, key, since } });
      }
      const states = (await ledgers.turns()).map(({ session, state }) => `${session} ${state}`);
      expect(states).toEqual(['a ready', 'b behind', 'c behind']);
      const [first] = (await take(store)).taken;
      if (first !== undefined) await giveBack(ledgers, first, { to: 'none' });
      expect(await takeAll(store)).toEqual(['b']);
    });

    test('a place that is held counts', async (context) => {
      const { ledgers, store, advance } = context;
      const held = { ...key, hold: 'task' } as const;
      await submit(ledgers, 'a', { ...settings, key: held });
      advance(1);
      await submit(ledgers, 'b', { ...settings, key: held });
      await replace(context, 'a', {
        turn: { ...settings, key: held, since: 1, rests: null, holds: true },
      });
      expect(await ledgers.turn('b')).toMatchObject({ state: 'behind' });
      expect(await takeAll(store)).toEqual([]);
      await replace(context, 'a', { turn: null });
      expect(await ledgers.turn('b')).toMatchObject({ state: 'ready' });
    });
  });
}
