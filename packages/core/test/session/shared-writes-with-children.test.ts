import { agent, memoryStore, type Run, type SpawnHandle, sequence, step, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { increment, rivals, stateSchema } from './rival-sessions.ts';

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
