import {
  agent,
  loop,
  type Model,
  memoryStore,
  openai,
  parallel,
  rehearsal,
  run,
  runtime,
  step,
  tool,
} from 'adjutant';
import {
  approve,
  collectStream,
  createTestSession,
  model,
  runTest,
  scriptedModel,
  testAgent,
  testClock,
  user,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const real: Model = openai('gpt-5', { env: {} });

describe('testAgent', () => {
  test('is a message and the answers in order', async () => {
    const add = tool({
      name: 'add',
      description: 'Adds',
      schema: z.object({ a: z.number() }),
      readOnly: true,
      execute: ({ args, state }) => args.a + Number(state['base']),
    });
    const pupil = agent({ name: 'pupil', model: real, tools: [add] });
    const run = await testAgent(pupil, {
      input: 'Add',
      responses: [{ toolCalls: [{ name: 'add', args: { a: 1 } }] }, 'Eleven.'],
      state: { base: 10 },
    });
    expect(run).toMatchObject({ status: 'completed', output: 'Eleven.' });
    expect(run.events.find((event) => event.type === 'tool_result')).toMatchObject({
      result: { content: 11 },
    });
  });

  test('rejects when something is missing or left over', async () => {
    const talker = agent({ name: 'talker', model: real });
    await expect(testAgent(talker, { input: 'Hi', responses: [] })).rejects.toMatchObject({
      code: 'test_step_failed',
    });
    await expect(testAgent(talker, { input: 'Hi', responses: ['a', 'b'] })).rejects.toMatchObject({
      code: 'test_step_failed',
      data: { step: 3 },
    });
    await expect(testAgent(talker, { input: 5 as never, responses: [] })).rejects.toMatchObject({
      code: 'invalid_test',
    });
    await expect(testAgent(talker, { input: 'Hi' } as never)).rejects.toThrow(
      '`responses` must be a list of what the models answer, not undefined',
    );
    await expect(testAgent(talker, undefined as never)).rejects.toMatchObject({
      code: 'invalid_test',
    });
  });
});

describe('createTestSession', () => {
  test('has state, messages and events, and can be run', async () => {
    const session = await createTestSession({
      id: 's-1',
      userId: 'ann',
      state: { mode: 'fast', user: { theme: 'dark' } },
      events: [{ type: 'assistant', by: 'model', agent: 'before', text: 'Earlier.' }],
      messages: ['First.', 'Second.'],
    });
    expect(session).toMatchObject({ id: 's-1', app: 'test' });
    expect(session.state['mode']).toBe('fast');
    expect((session.state['user'] as { theme: string }).theme).toBe('dark');
    const scripted = scriptedModel([{ text: 'Yes.' }]);
    const result = await run(agent({ name: 'a', model: scripted }), { session, input: 'Third.' });
    expect(result.output).toBe('Yes.');
    expect(JSON.stringify(scripted.calls[0]?.prompt)).toMatch(/Earlier.*First.*Second.*Third/s);
  });

  test('refuses what it does not know', async () => {
    await expect(createTestSession({ stat: {} } as never)).rejects.toMatchObject({
      code: 'invalid_option',
    });
    await expect(
      createTestSession({ events: [{ type: 'nothing' } as never] }),
    ).rejects.toMatchObject({ code: 'invalid_event' });
  });
});

describe('collectStream', () => {
  test('has everything that was streamed, and the text by agent', async () => {
    const branch = (name: string) =>
      agent({ name, model: scriptedModel([{ chunks: [name, '!'] }]) });
    const { stream, events, text, textOf, result } = await collectStream(
      run(parallel({ name: 'both', runnables: [branch('left'), branch('right')] }), 'Go'),
    );
    expect(textOf).toEqual({ left: 'left!', right: 'right!' });
    expect(text).toHaveLength('left!right!'.length);
    expect(events).toEqual([...result.session.events]);
    expect(stream.length).toBe(events.length + 4);
  });

  test('counts the text of attempts that were made again once', async () => {
    const clock = testClock();
    const broken = scriptedModel([
      { text: 'half', cut: true },
      { text: 'whole' },
      { toolCalls: [{ name: 'none' }], text: 'and ' },
      { text: 'on' },
    ]);
    const app = runtime({ app: 'a', ports: { clock, random: { next: () => 0 } } });
    const talker = agent({ name: 'a', model: broken });
    const twice = step({
      name: 'twice',
      execute: async (ctx) =>
        void [await ctx.call(talker, { message: '1' }), await ctx.call(talker, { message: '2' })],
    });
    const collecting = collectStream(app.run(twice, 'Go'));
    const advancing = setInterval(() => clock.advance(100), 1);
    const { text } = await collecting;
    clearInterval(advancing);
    expect(text).toBe('wholeand on');
  });
});

describe('runTest beside other tests and after them', () => {
  test('several at once do not see each other', async () => {
    const talker = agent({ name: 'talker', model: real });
    const runs = await Promise.all(
      [1, 2, 3, 4, 5].map((n) =>
        runTest(talker, [user(`${n}`), model(({ prompt }) => JSON.stringify(prompt.at(-1)))]),
      ),
    );
    expect(runs.map(({ output }) => /"text":"(\d)"/.exec(output ?? '')?.[1])).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
    ]);
  });

  test('a session that one left waiting goes on in the next', async () => {
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: z.object({}),
      approval: true,
      execute: () => 'paid',
    });
    const clerk = agent({ name: 'clerk', model: real, tools: [pay] });
    const clock = testClock();
    const options = { store: memoryStore({ clock }), clock, session: { id: 's' } };
    expect(
      (await runTest(clerk, [user('Pay'), model({ toolCalls: [{ name: 'pay' }] })], options))
        .status,
    ).toBe('yielded');
    const run = await runTest(clerk, [approve(), model('Paid.')], options);
    expect(run).toMatchObject({ status: 'completed', output: 'Paid.' });
    const next = await runTest(clerk, [user('Again?'), model('No.')], options);
    expect(next.result.runId).toBe('run_2');
  });

  test(
    'agents that are handed over to, spawned, and summarisers are answered like ' + 'all others',
    async () => {
      const second = agent({ name: 'second', model: real });
      const registered = { runtime: { runnables: [second] } };
      const first = agent({ name: 'first', model: real, hooks: { afterModel: () => second } });
      expect(
        (
          await runTest(
            first,
            [user('Go'), model('1', { agent: 'first' }), model('2', { agent: 'second' })],
            registered,
          )
        ).output,
      ).toBe('2');
      const spawning = step({
        name: 'spawning',
        execute: async (ctx) => {
          const handle = await ctx.spawn(second, { message: 'Go' });
          return ctx.complete((await handle.wait()).output ?? null);
        },
      });
      expect((await runTest(spawning, [model('spawned')], registered)).output).toBe('spawned');
      const small: Model = { ...real, contextWindow: 400 };
      const long = agent({
        name: 'long',
        model: small,
        compaction: { model: real, compactAt: 0.5 },
      });
      const chat = loop({ name: 'chat', runnable: long, maxIterations: 3, yields: true });
      const words = 'word '.repeat(60);
      const said = model(`I said ${words}`, { agent: 'long' });
      const run = await runTest(chat, [
        user(words),
        said,
        user(words),
        model('A summary.'),
        said,
        user('end'),
        model('Another.', { agent: 'compaction of long' }),
        said,
      ]);
      expect(new Set(run.calls.map(({ agent: name }) => name)).size).toBe(2);
    },
  );
});

test('what stands in for models and tools is checked like other options', () => {
  const make = (ports: object) => () => runtime({ app: 'a', ports: ports as never });
  expect(make({ standIns: { modle: () => undefined } })).toThrow(/standIns.*did you mean `model`/s);
  expect(make({ clok: {} })).toThrow(/did you mean `clock`/);
  expect(make({ standIns: { model: 5 } })).toThrow(
    expect.objectContaining({ code: 'invalid_runtime' }),
  );
});

test('the models of agents that are replaced may be any', async () => {
  expect(
    (await runTest(agent({ name: 'a', model: rehearsal() }), [user('2 + 2?'), model('Five.')]))
      .output,
  ).toBe('Five.');
  const own = scriptedModel([]);
  expect(
    (await runTest(agent({ name: 'a', model: own }), [user('2 + 2?'), model('Five.')])).output,
  ).toBe('Five.');
  expect(own.calls).toEqual([]);
});
