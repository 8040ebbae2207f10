import {
  agent,
  type Event,
  memoryStore,
  parallel,
  runtime,
  type Store,
  step,
  tool,
} from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { increment, rivals, stateSchema } from './rival-sessions.ts';

function changesOf(events: readonly Event[]): unknown[] {
  return events.flatMap((event) =>
    event.type === 'state_change'
      ? event.changes.map(({ oldValue, newValue }) => [oldValue, newValue])
      : [],
  );
}

/** Checks that the ledger says the same of a shared key when it is read again. */
async function expectStored(
  app: ReturnType<typeof runtime>,
  session: { id: string; events: readonly Event[]; ledger: { release(): Promise<unknown> } },
): Promise<void> {
  await session.ledger.release();
  const stored: unknown[] = [];
  for await (const event of app.sessions.events(session.id)) stored.push(event);
  expect(stored).toEqual(session.events);
}

describe('a function of a shared value', () => {
  test(
    'is called again by a tool whose value another session changed, and the ledger says what ' +
      'landed',
    async () => {
      const { app, mine, interfere, stored } = await rivals();
      const add = tool({
        name: 'add',
        description: 'Adds one',
        schema: z.object({}),
        stateSchema,
        execute: async (ctx) => {
          ctx.state.user.update('n', increment);
          expect(ctx.state.user.n).toBe(2);
          await interfere();
          return 'added';
        },
      });
      const model = scriptedModel([{ toolCalls: [{ name: 'add', args: {} }] }, { text: 'done' }]);
      await app.run(agent({ name: 'a', model, tools: [add] }), { session: mine, input: 'Go' });
      expect(await stored()).toBe(12);
      expect(mine.state.user.n).toBe(12);
      expect(changesOf(mine.events)).toEqual([
        [undefined, 1],
        [11, 12],
      ]);
      const result = mine.events.find((event) => event.type === 'tool_result');
      expect(result?.result).toEqual({ status: 'success', content: 'added' });
      expect(mine.events.map(({ seq }) => seq)).toEqual(mine.events.map((_, i) => i + 1));
      await expectStored(app as never, mine);
      await app.close();
    },
  );

  test('is called again by a step, with what an earlier call of the same body gave', async () => {
    const { app, mine, interfere, stored } = await rivals();
    const twice = step({
      name: 'twice',
      stateSchema,
      execute: async (ctx) => {
        ctx.state.user.update('n', increment);
        ctx.state.user.update('n', (n = 0) => n * 2);
        await interfere();
      },
    });
    expect(await app.run(twice, { session: mine })).toMatchObject({ status: 'completed' });
    expect(await stored()).toBe(24);
    await app.close();
  });

  test('is called again outside of runs, as often as it was written', async () => {
    const { app, mine, interfere, stored } = await rivals();
    await interfere();
    for (let i = 0; i < 3; i++) mine.state.user.update('n', increment);
    mine.addMessage('between');
    mine.state.user.update('n', increment);
    await mine.flush();
    expect(await stored()).toBe(15);
    expect(mine.state.user.n).toBe(15);
    await expectStored(app as never, mine);
    await app.close();
  });

  test('sees what concurrent branches of its own session wrote', async () => {
    const { app, mine, stored } = await rivals();
    const runnables = [1, 2, 3, 4].map((i) =>
      step({
        name: `s${i}`,
        stateSchema,
        execute: async (ctx) => {
          ctx.state.user.update('n', increment);
          await Promise.resolve();
        },
      }),
    );
    expect(await app.run(parallel({ name: 'p', runnables }), { session: mine })).toMatchObject({
      status: 'completed',
    });
    expect(await stored()).toBe(5);
    expect(changesOf(mine.events)).toEqual([
      [undefined, 1],
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 5],
    ]);
    await app.close();
  });

  test('that refuses the value that is there now refuses the write', async () => {
    const { app, mine, interfere, stored } = await rivals();
    const below = step({
      name: 'below',
      stateSchema,
      execute: async (ctx) => {
        ctx.state.user.update('n', (n = 0) => {
          if (n > 5) throw new Error('too many');
          return n + 1;
        });
        await interfere();
      },
    });
    expect(await app.run(below, { session: mine })).toMatchObject({
      status: 'error',
      error: { code: 'state_conflict' },
    });
    expect(await stored()).toBe(11);
    await app.close();
  });

  test('may give a value that is too large to stand in the event', async () => {
    const { app, mine, other } = await rivals();
    other.state.user.notes = ['x'.repeat(100_000)];
    await other.flush();
    mine.state.user.update('notes', (notes = []) => [...notes, 'y'.repeat(100_000)]);
    await mine.flush();
    expect(mine.state.user.notes?.map(({ length }) => length)).toEqual([100_000, 100_000]);
    await expectStored(app as never, mine);
    const again = await app.sessions.open({ id: 'mine', stateSchema });
    expect(again.state.user.notes?.map((note) => note[0])).toEqual(['x', 'y']);
    await app.close();
  });

  test('together with a plain value that came too late is refused with it', async () => {
    const { app, mine, interfere, other, stored } = await rivals();
    other.state.user.limit = 5;
    await other.flush();
    const both = step({
      name: 'both',
      stateSchema,
      execute: async (ctx) => {
        ctx.state.user.update('n', increment);
        ctx.state.user.limit = 7;
        await interfere();
        other.state.user.limit = 6;
        await other.flush();
      },
    });
    expect(await app.run(both, { session: mine })).toMatchObject({
      status: 'error',
      error: { code: 'state_conflict' },
    });
    expect(await stored()).toBe(11);
    await expectStored(app as never, mine);
    await app.close();
  });
});

/** A store in which `before` happens right before each append of a session. */
function beforeAppends(
  inner: Store,
  session: string,
  before: (ledgers: LedgerStore) => Promise<void>,
): Store {
  return new Proxy(inner, {
    get: (target, name) => {
      if (name !== 'for') return Reflect.get(target, name);
      return (scope: Parameters<Store['for']>[0]) => {
        const ledgers = target.for(scope);
        return new Proxy(ledgers, {
          get: (store, method) => {
            const found = Reflect.get(store, method) as unknown;
            if (typeof found !== 'function') return found;
            if (method !== 'append') return found.bind(store) as unknown;
            return async (...args: Parameters<LedgerStore['append']>) => {
              if (args[0] === session && args[2].shared !== undefined) await before(ledgers);
              return ledgers.append(...args);
            };
          },
        });
      };
    },
  });
}

test(
  'a function is called again five times, and then the write is refused and everything else ' +
    'lands',
  async () => {
    let changes = 0;
    const store = beforeAppends(memoryStore(), 'mine', async (ledgers) => {
      const stored = (await ledgers.readShared('user', 'u'))['n'];
      const claim = await ledgers.claim('other', 'somebody', { ttlMs: 1_000, force: true });
      const shared = [
        {
          scope: 'user',
          scopeId: 'u',
          key: 'n',
          value: 100 + changes++,
          baseVersion: stored?.version ?? 0,
        },
      ];
      await ledgers.append('other', { seq: claim.seq, epoch: claim.epoch }, { events: [], shared });
    });
    const app = runtime({ app: 'updates', store, stateSchema });
    const mine = await app.sessions.open({ id: 'mine', userId: 'u', stateSchema });
    const given: unknown[] = [];
    mine.state.user.update('n', (n) => {
      given.push(n);
      return (n ?? 0) + 1;
    });
    mine.addMessage('hello');
    await expect(mine.flush()).rejects.toMatchObject({
      code: 'state_conflict',
      data: { keys: ['n'] },
    });
    expect(given).toEqual([undefined, 100, 101, 102, 103, 104]);
    expect(mine.events.map(({ type }) => type)).toEqual(['decision', 'user']);
    expect(mine.state.user.n).toBeUndefined();
    await mine.flush();
    await app.close();
  },
);

describe('writes that follow a refused one', () => {
  test('do not land over a value that nobody here has seen', async () => {
    const { app, mine, interfere, stored } = await rivals();
    await interfere();
    mine.state.user.n = 2;
    mine.state.user.n = 3;
    const flushed = mine.flush();
    mine.state.user.n = 4;
    await expect(flushed).rejects.toMatchObject({ code: 'state_conflict' });
    await mine.flush().catch(() => undefined);
    mine.state.user.n = 5;
    await mine.flush().catch(() => undefined);
    expect(await stored()).toBe(11);
    await expectStored(app as never, mine);
    await app.close();
  });

  test('are in the store when they are in the ledger', async () => {
    const { app, mine, interfere } = await rivals();
    await interfere();
    mine.state.user.update({ n: 2, limit: 1 });
    mine.state.user.update('limit', (limit = 0) => limit + 5);
    await expect(mine.flush()).rejects.toMatchObject({ code: 'state_conflict' });
    expect(mine.state.user.limit).toBe(5);
    const reader = await app.sessions.open({ id: 'reader', userId: 'u', stateSchema });
    expect({ ...reader.state.user }).toEqual({ n: 11, limit: 5 });
    await app.close();
  });
});
