import { agent, memoryStore, parallel, runtime, step, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const stateSchema = { session: {}, user: { n: z.number() } };

/**
 * A session that has seen n = 1, and a way for another session to make it 100 and for this one to
 * see that.
 */
async function rivals() {
  const app = runtime({ app: 'stale', store: memoryStore(), stateSchema });
  const mine = await app.sessions.open({ id: 'mine', userId: 'u', stateSchema });
  const other = await app.sessions.open({ id: 'other', userId: 'u', stateSchema });
  mine.state.user.n = 1;
  await mine.flush();
  const observeChange = async (): Promise<void> => {
    await other.observeShared();
    other.state.user.n = 100;
    await other.flush();
    await mine.observeShared();
  };
  const stored = async () => {
    await other.observeShared();
    return other.state.user.n;
  };
  return { app, mine, observeChange, stored };
}

test(
  'a step writes over what it has read, not over what its session has seen ' + 'since',
  async () => {
    const { app, mine, observeChange, stored } = await rivals();
    const slow = step({
      name: 'slow',
      stateSchema,
      execute: async (ctx) => {
        const { n } = ctx.state.user;
        await observeChange();
        ctx.state.user.n = (n ?? 0) + 1;
      },
    });
    const { status, output } = await app.run(
      parallel({ name: 'p', runnables: [slow], minSuccessful: 0 }),
      { session: mine },
    );
    expect({ status, output }).toEqual({ status: 'completed', output: {} });
    expect(
      mine.events.findLast((event) => event.type === 'invocation_end' && event.status === 'error'),
    ).toMatchObject({
      error: { code: 'state_conflict', data: { keys: ['n'] } },
    });
    expect(await stored()).toBe(100);
    await app.close();
  },
);

test('so does a tool, while one that looks again may write', async () => {
  const { app, mine, observeChange, stored } = await rivals();
  const add = (name: string, looksAgain: boolean) =>
    tool({
      name,
      description: 'Adds',
      schema: z.object({}),
      stateSchema,
      execute: async (ctx) => {
        const { n } = ctx.state.user;
        await observeChange();
        ctx.state.user.n = ((looksAgain ? ctx.state.user.n : n) ?? 0) + 1;
        return 'added';
      },
    });
  const model = scriptedModel([
    { toolCalls: [{ name: 'stale' }] },
    { toolCalls: [{ name: 'fresh' }] },
    { text: 'done' },
  ]);
  await app.run(agent({ name: 'a', model, tools: [add('stale', false), add('fresh', true)] }), {
    input: 'Go',
    session: mine,
  });
  const results = mine.events.flatMap((event) =>
    event.type === 'tool_result' ? [event.result] : [],
  );
  expect(results).toMatchObject([
    { content: 'added', metadata: { stateConflict: { keys: ['n'] } } },
    { content: 'added' },
  ]);
  expect(results[1]?.metadata).toBeUndefined();
  expect(await stored()).toBe(101);
  await app.close();
});

test(
  'a step may write a key more than once, before and after its children, and after them what ' +
    'they wrote',
  async () => {
    const { app, mine, stored } = await rivals();
    const child = step({
      name: 'child',
      stateSchema,
      execute: (ctx) => {
        ctx.state.user.n = (ctx.state.user.n ?? 0) * 10;
      },
    });
    const parent = step({
      name: 'parent',
      stateSchema,
      execute: async (ctx) => {
        for (let i = 0; i < 2; i++) {
          ctx.state.user.n = (ctx.state.user.n ?? 0) + 1;
          ctx.state.user.n = (ctx.state.user.n ?? 0) + 1;
          await ctx.call(child);
        }
        ctx.state.user.n = (ctx.state.user.n ?? 0) + 1;
      },
    });
    expect(await app.run(parent, { session: mine })).toMatchObject({ status: 'completed' });
    expect(await stored()).toBe(321);
    await app.close();
  },
);

test('a call with whose start a shared write was refused rejects', async () => {
  const { app, mine, observeChange, stored } = await rivals();
  const child = step({ name: 'child', execute: () => undefined });
  const caught: unknown[] = [];
  const parent = step({
    name: 'parent',
    stateSchema,
    execute: async (ctx) => {
      await observeChange();
      ctx.state.user.n = 2;
      await ctx.call(child).catch((error: unknown) => caught.push(error));
    },
  });
  expect(await app.run(parent, { session: mine })).toMatchObject({ status: 'completed' });
  expect(caught).toMatchObject([{ code: 'state_conflict', data: { scope: 'user', keys: ['n'] } }]);
  expect(await stored()).toBe(100);
  await app.close();
});
