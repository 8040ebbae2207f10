import {
  agent,
  type Event,
  memoryStore,
  parallel,
  type Run,
  type Runnable,
  runtime,
  type SpawnHandle,
  type Store,
  sequence,
  step,
  tool,
} from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const stateSchema = {
  session: {},
  user: { n: z.number(), limit: z.number(), notes: z.array(z.string()) },
};

/**
 * A session that knows the shared n = 1, and another one that adds 10 to it without the first one
 * seeing that.
 */
async function rivals(store: Store = memoryStore(), runnables: readonly Runnable[] = []) {
  const app = runtime({ app: 'updates', store, stateSchema, runnables });
  const mine = await app.sessions.open({ id: 'mine', userId: 'u', stateSchema });
  mine.state.user.n = 1;
  await mine.flush();
  const other = await app.sessions.open({ id: 'other', userId: 'u', stateSchema });
  const interfere = async (): Promise<void> => {
    await other.observeShared();
    other.state.user.n = (other.state.user.n ?? 0) + 10;
    await other.flush();
  };
  const stored = async (): Promise<number | undefined> =>
    (await store.for({ tenant: 'default', app: 'updates' }).readShared('user', 'u'))['n']
      ?.value as number;
  return { app, mine, other, interfere, stored };
}

const increment = (n = 0): number => n + 1;

function changesOf(events: readonly Event[]): unknown[] {
  return events.flatMap((event) =>
    event.type === 'state_change'
      ? event.changes.map(({ oldValue, newValue }) => [oldValue, newValue])
      : [],
  );
}

/** What the ledger says of a shared key must be what it says when it is read again. */
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

/** Stops a run in the middle; gives the result of a run that was faster. */
async function stopAfterEnds<Output>(run: Run<Output>, count: number) {
  let ends = 0;
  try {
    for await (const event of run)
      if (event.type === 'invocation_end' && ++ends === count) run.stop();
    return await run;
  } catch {
    return undefined;
  }
}

describe('a shared write that lands with the start of a child', () => {
  const child = step({
    name: 'child',
    stateSchema,
    execute: (ctx) => ctx.complete(ctx.state.user.n ?? 0),
  });

  test(
    'is made again before the child looks at it, and read by the body when the child has ' +
      'ended',
    async () => {
      const { app, mine, interfere, stored } = await rivals(memoryStore(), [child]);
      const seen: unknown[] = [];
      const parent = step({
        name: 'parent',
        stateSchema,
        execute: async (ctx) => {
          ctx.state.user.update('n', increment);
          await interfere();
          const { output } = await ctx.call(child);
          seen.push(output, ctx.state.user.n);
        },
      });
      await app.run(parent, { session: mine });
      expect(seen).toEqual([12, 12]);
      expect(await stored()).toBe(12);
      await app.close();
    },
  );

  test('is not made again by a body that runs again', async () => {
    for (const cut of [0, 1, 2, 3]) {
      const store = memoryStore();
      const { app, mine, interfere, stored } = await rivals(store, [child]);
      let runs = 0;
      const parent = step({
        name: 'parent',
        stateSchema,
        execute: async (ctx) => {
          runs++;
          ctx.state.user.update('n', increment);
          if (runs === 1) await interfere();
          await ctx.call(child, { key: 'first' });
          ctx.state.user.update('n', increment);
          await ctx.call(child, { key: 'second' });
          return ctx.complete(ctx.state.user.n ?? 0);
        },
      });
      const run = app.run(parent, { session: mine });
      const again = (await stopAfterEnds(run, cut)) ?? (await app.resume(mine));
      expect(again.output).toBe(13);
      expect(await stored()).toBe(13);
      await app.close();
    }
  });

  test.each(['spawn', 'dispatch'] as const)(
    'with %s fails its step when it was refused',
    async (mode) => {
      const { app, mine, interfere, stored } = await rivals(memoryStore(), [child]);
      const parent = step({
        name: 'parent',
        stateSchema,
        execute: async (ctx) => {
          ctx.state.user.n = 2;
          await interfere();
          ctx[mode](child);
        },
      });
      expect(await app.run(parent, { session: mine })).toMatchObject({
        status: 'error',
        error: { code: 'state_conflict' },
      });
      expect(await stored()).toBe(11);
      await app.close();
    },
  );

  test.each(['spawn', 'dispatch'] as const)(
    'with %s and was refused is told at the next await, once',
    async (mode) => {
      const { app, mine, interfere } = await rivals(memoryStore(), [child]);
      const caught: unknown[] = [];
      const parent = step({
        name: 'parent',
        stateSchema,
        execute: async (ctx) => {
          ctx.state.user.n = 2;
          await interfere();
          const started = ctx[mode](child);
          const next = (): Promise<unknown> =>
            mode === 'spawn' ? (started as SpawnHandle).wait() : ctx.call(child);
          await next().catch((error: unknown) => caught.push(error));
          await ctx.call(child, { key: 'another' });
        },
      });
      expect(await app.run(parent, { session: mine })).toMatchObject({ status: 'completed' });
      expect(caught).toMatchObject([{ code: 'state_conflict', data: { keys: ['n'] } }]);
      await app.close();
    },
  );

  test('of a tool and was refused stands in the metadata of its result', async () => {
    const { app, mine, interfere } = await rivals(memoryStore(), [child]);
    const starts = tool({
      name: 'starts',
      description: 'Starts something',
      schema: z.object({}),
      stateSchema,
      execute: async (ctx) => {
        ctx.state.user.n = 2;
        await interfere();
        ctx.dispatch(child);
        return 'started';
      },
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'starts', args: {} }] }, { text: 'done' }]);
    await app.run(agent({ name: 'a', model, tools: [starts] }), { session: mine, input: 'Go' });
    const result = mine.events.find((event) => event.type === 'tool_result');
    expect(result?.result).toMatchObject({
      status: 'success',
      content: 'started',
      metadata: { stateConflict: { scope: 'user', keys: ['n'] } },
    });
    await app.close();
  });

  test('and was refused is not written by a body that caught that and runs again', async () => {
    const store = memoryStore();
    const { app, mine, interfere, stored } = await rivals(store, [child]);
    const read: unknown[] = [];
    let runs = 0;
    const parent = step({
      name: 'parent',
      stateSchema,
      execute: async (ctx) => {
        runs++;
        ctx.state.user.n = 2;
        if (runs === 1) await interfere();
        await ctx.call(child, { key: 'first' }).catch(() => undefined);
        read.push(ctx.state.user.n);
        await ctx.call(child, { key: 'second' });
      },
    });
    const run = app.run(parent, { session: mine });
    await stopAfterEnds(run, 1);
    expect(await app.resume(mine)).toMatchObject({ status: 'completed' });
    expect(runs).toBe(2);
    expect(read).toEqual([1, 1]);
    expect(await stored()).toBe(11);
    await app.close();
  });
});

test(
  'a child that hands over does not write twice what its caller wrote with ' + 'its start',
  async () => {
    const { app, mine, stored } = await rivals();
    const target = step({ name: 'target', execute: (ctx) => ctx.complete('there') });
    const child = step({ name: 'child', execute: () => target });
    const parent = step({
      name: 'parent',
      stateSchema,
      execute: async (ctx) => {
        ctx.state.user.update('n', increment);
        const { output } = await ctx.call(child);
        return ctx.complete(output as string);
      },
    });
    expect(
      await app.run(sequence({ name: 's', runnables: [parent, target] }), { session: mine }),
    ).toMatchObject({ status: 'completed' });
    expect(await stored()).toBe(2);
    await app.close();
  },
);
