import { agent, memoryStore, run, runtime, session, step, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const noop = tool({
  name: 'noop',
  description: 'Does nothing',
  schema: z.object({}),
  execute: () => 'nothing',
});
const quick = (name = 'quick') => agent({ name, model: scriptedModel([{ text: 'ok' }]) });

/** Options as they come from JavaScript or JSON, past the compiler. */
const loose = (options: Record<string, unknown>) => options as never;

describe('options that do not fit', () => {
  test.each([
    [
      () => agent(loose({ name: 'a', model: scriptedModel([]), systemPrompt: 'x' })),
      /no option `systemPrompt`.*`instructions`/,
    ],
    [
      () => agent(loose({ name: 'a', model: scriptedModel([]), limits: { round: 3 } })),
      /`limits` must be an object without `round` \(did you mean `rounds`\?\)/,
    ],
    [
      () => agent(loose({ name: 'a', model: scriptedModel([]), toolConcurrency: 0 })),
      /`toolConcurrency` must be a whole number from 1, not 0/,
    ],
    [
      () => agent(loose({ name: 'a', model: scriptedModel([]), tools: [quick()] })),
      /agentTool\(\)/,
    ],
    [
      () => agent(loose({ name: 'a', model: scriptedModel([]), tools: noop })),
      /`tools` must be a list of tools/,
    ],
    [
      () => agent(loose({ name: 'a', model: scriptedModel([]), context: 'You are' })),
      /`context` must be a list of renderers/,
    ],
    [
      () => agent(loose({ name: 'a', model: scriptedModel([]), toolChoice: 'always' })),
      /`toolChoice` must be 'auto'/,
    ],
    [() => agent(undefined as never), /the options must be an object, not undefined/],
    [
      () => step(loose({ name: 's', execute: () => undefined, onDrift: 'ignore' })),
      /`onDrift` must be one of 'fail', 'accept', not "ignore"/,
    ],
    [() => runtime(loose({ app: 'a', store: 'x.db' })), /`store` must be a store such as sqlite/],
    [() => runtime(loose({ app: 'a', runnables: quick() })), /`runnables` must be a list/],
    [() => runtime({ app: 'a' }).run(quick(), loose({ prompt: 'x' })), /no option `prompt`/],
    [
      () => runtime({ app: 'a' }).run(quick(), loose({ input: 5 })),
      /`input` must be a string, not 5/,
    ],
    [() => runtime({ app: 'a' }).run(quick(), loose({ runId: 7 })), /`runId` must be a string/],
    [
      () => runtime({ app: 'a' }).run(quick(), loose({ timeoutMs: Number.NaN })),
      /`timeoutMs` must be a number greater than 0/,
    ],
    [
      () => runtime({ app: 'a' }).run(quick(), loose({ signal: {} })),
      /`signal` must be an AbortSignal/,
    ],
    [() => run({} as never, 'x'), /what is to be run must be an agent/],
  ])('are refused by name: %#', (make, message) => {
    expect(make).toThrow(message);
  });

  test('a session refuses them too, and stays as it was', async () => {
    const app = runtime({ app: 'a' });
    await expect(app.sessions.open(loose({ existing: 'error' }))).rejects.toThrow(
      /`existing` must be one of/,
    );
    await expect(app.sessions.open(loose({ scopes: { temp: 'x' } }))).rejects.toThrow(
      /"temp" is taken/,
    );
  });
});

test('the usage of an answer that cannot be used counts', async () => {
  const model = scriptedModel([
    { text: '', usage: { inputTokens: 1000, outputTokens: 8000 } },
    { text: 'ok', usage: { inputTokens: 1, outputTokens: 5 } },
  ]);
  const slow = agent({
    name: 'slow',
    model: {
      kind: 'model',
      provider: 'scripted',
      modelId: 'x',
      settings: { retry: { initialDelayMs: 1 } },
      load: () => model,
    },
  });
  const result = await run(slow, 'hi');
  expect(result.usage).toMatchObject({ inputTokens: 1001, outputTokens: 8005 });
});

test('at a limit, a model that still wants tools ends with what it said before', async () => {
  const model = scriptedModel((_prompt, call) => ({
    ...(call === 1 ? { text: 'So far: 3 files.' } : {}),
    toolCalls: [{ name: 'noop', args: {} }],
  }));
  const stubborn = agent({ name: 'stubborn', model, tools: [noop], limits: { rounds: 1 } });
  const result = await run(stubborn, 'count');
  expect(result).toMatchObject({
    status: 'completed',
    stopReason: 'round_limit',
    output: 'So far: 3 files.',
  });
  expect(model.calls).toHaveLength(2);
});

test('an answer that was cut off at its longest says so', async () => {
  const wordy = agent({
    name: 'wordy',
    model: scriptedModel([{ text: 'and so on and', finishReason: 'length' }]),
  });
  expect(await run(wordy, 'tell')).toMatchObject({
    status: 'completed',
    output: 'and so on and',
    stopReason: 'output_limit',
  });
});

test(
  'copies keep the shared state that they were made with, and their writes to ' + 'themselves',
  async () => {
    const app = runtime({ app: 'copies', store: memoryStore() });
    const original = await app.sessions.open({ id: 'o', userId: 'u' });
    (original.state['user'] as Record<string, unknown>)['theme'] = 'dark';
    await original.flush();
    const copy = original.clone();
    const look = step({
      name: 'look',
      execute: (ctx) => ctx.complete((ctx.state['user'] as { theme: string }).theme),
    });
    expect((await run(look, { session: copy })).output).toBe('dark');
    (copy.state['user'] as Record<string, unknown>)['theme'] = 'light';
    await copy.flush();
    expect((await app.sessions.open({ id: 'p', userId: 'u' })).state['user']).toEqual({
      theme: 'dark',
    });
    const restored = await session.fromSnapshot({
      appName: 'other',
      id: 'r',
      events: [],
      userState: { theme: 'blue' },
    });
    expect((await run(look, { session: restored })).output).toBe('blue');
  },
);

test('a session of another app is not run here', async () => {
  const one = runtime({ app: 'one' });
  const two = runtime({ app: 'two' });
  const mine = await one.sessions.open();
  expect(() => two.run(quick(), { session: mine })).toThrow(/belongs to the app "one"/);
});

test('the reason of an abort is kept whatever it is', async () => {
  const result = await run(quick(), { input: 'x', signal: AbortSignal.abort('too late') });
  expect(result).toMatchObject({ status: 'cancelled', error: { message: 'too late' } });
});

test('the state schema of a runtime types its sessions', async () => {
  const app = runtime({ app: 'typed', stateSchema: { session: { n: z.number() } } });
  const typed = await app.sessions.open();
  typed.state.n = 3;
  // @ts-expect-error a number is asked for
  expect(() => (typed.state.n = 'no')).toThrow(/does not fit its schema/);
  expect(typed.state.n).toBe(3);
});
