import { expect, test } from 'vitest';
import { z } from 'zod';
import { run } from '../../../src/in-memory-app.ts';
import { agent } from '../../../src/runnables/agent.ts';
import { step } from '../../../src/runnables/step.ts';
import { runtime } from '../../../src/runtime.ts';
import { memoryStore } from '../../../src/stores/memory.ts';
import { sqlite } from '../../../src/stores/sqlite/index.ts';
import { scriptedModel } from '../../../src/testing/kit/scripted-model.ts';
import { tool } from '../../../src/tools/tool.ts';

const stateSchema = { session: { count: z.number() }, user: { theme: z.string() } };

test('a session with typed state can be run on', async () => {
  const app = runtime({ app: 'typed' });
  const session = await app.sessions.open({ stateSchema, userId: 'u-1' });
  const increment = step({
    name: 'increment',
    stateSchema,
    execute: (ctx) => {
      ctx.state.update('count', (count = 0) => count + 1);
    },
  });
  await app.run(increment, { session });
  expect(session.state.count).toBe(1);
});

test(
  'a write that is on its way to the store is not taken for one that ' + 'somebody undid',
  async () => {
    const app = runtime({ app: 'shared' });
    const session = await app.sessions.open({ stateSchema, userId: 'u-1' });
    session.state.user.theme = 'dark';
    await app.run(step({ name: 'nothing', execute: () => undefined }), { session });
    expect(session.state.user.theme).toBe('dark');
    expect(
      session.events.filter((event) => event.type === 'state_change').map(({ source }) => source),
    ).toEqual(['mutation']);
  },
);

test('a tool that writes shared state does not see it undone in the next round', async () => {
  const app = runtime({ app: 'rounds' });
  const session = await app.sessions.open({ stateSchema, userId: 'u-1' });
  const setTheme = tool({
    name: 'setTheme',
    description: 'Sets the theme',
    schema: z.object({}),
    stateSchema,
    execute: (ctx) => {
      ctx.state.user.theme = 'light';
      return 'done';
    },
  });
  const painter = agent({
    name: 'painter',
    model: scriptedModel([{ toolCalls: [{ name: 'setTheme' }] }, { text: 'done' }]),
    tools: [setTheme],
  });
  await app.run(painter, { session, input: 'Make it light' });
  expect(session.state.user.theme).toBe('light');
  expect(
    session.events.filter((event) => event.type === 'state_change').map(({ source }) => source),
  ).toEqual(['mutation']);
});

test('run() without a runtime uses the one that the session came from', async () => {
  const greet = tool({
    name: 'greet',
    description: 'Greets',
    schema: z.object({}),
    execute: () => 'hello',
  });
  const app = runtime({ app: 'origin', tools: [greet] });
  const session = await app.sessions.open();
  const greeter = agent({
    name: 'greeter',
    model: scriptedModel([{ toolCalls: [{ name: 'greet' }] }, { text: 'done' }]),
  });
  const result = await run(greeter, { session, input: 'Hi' });
  expect(result.toolCalls).toMatchObject([{ name: 'greet', success: true }]);
});

test('a session that this process holds counts as existing', async () => {
  const app = runtime({ app: 'existing' });
  const session = await app.sessions.open({ id: 'taken' });
  session.state.mode = 'on';
  await session.flush();
  await expect(app.sessions.open({ id: 'taken', existing: 'fail' })).rejects.toMatchObject({
    code: 'session_exists',
  });
  expect((await app.sessions.open({ id: 'taken' })).state.mode).toBe('on');
});

test.each([
  ['memory', () => memoryStore()],
  ['sqlite', () => sqlite(':memory:')],
])('shared state is written, deleted and written again (%s)', async (_name, store) => {
  const app = runtime({ app: 'versions', store: store() });
  const first = await app.sessions.open({ stateSchema, userId: 'u-1' });
  first.state.user.theme = 'one';
  first.state.user.theme = 'two';
  first.state.user.theme = undefined;
  await first.flush();
  first.state.user.theme = 'three';
  first.state.user.theme = undefined;
  await first.flush();
  const second = await app.sessions.open({ stateSchema, userId: 'u-1' });
  expect(second.state.user.theme).toBeUndefined();
  second.state.user.theme = 'four';
  await second.flush();
  second.state.user.theme = 'five';
  await second.flush();
  await first.observeShared();
  expect(first.state.user.theme).toBe('five');
  await app.close();
});

test(
  'a scope of the schema that the session was not opened with says so when ' + 'it is used',
  async () => {
    const app = runtime({ app: 'scopes' });
    const session = await app.sessions.open({ stateSchema });
    session.state.count = 1;
    expect(() => session.state.user.theme).toThrowError(
      expect.objectContaining({ code: 'undeclared_scope' }),
    );
    const paint = step({
      name: 'paint',
      stateSchema,
      execute: (ctx) => {
        ctx.state.user.theme = 'dark';
      },
    });
    const result = await app.run(paint, { session });
    expect(result.error).toMatchObject({ code: 'undeclared_scope', data: { scope: 'user' } });
    expect({ ...session.state }).toEqual({ count: 1 });
  },
);
