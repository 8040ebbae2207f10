import { agent, agentTool, claude, openai, parallel, sequence, step, textProtocol } from 'adjutant';
import { advanceTime, expectPrompt, model, runTest, user } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { add, calls, withTools } from './paying-agent.ts';
import { real } from './real-tools.ts';

describe('models', () => {
  test('are not loaded: the script answers, in order, and everything else is real', async () => {
    const run = await runTest(withTools(add), [
      user('1 + 2?'),
      model(calls(['add', { a: 1, b: 2 }])),
      model({ text: 'Three.' }),
    ]);
    expect(run).toMatchObject({
      status: 'completed',
      output: 'Three.',
      result: { output: 'Three.', usage: { inputTokens: 20 } },
    });
    expect(run.events.map(({ type }) => type)).toEqual(run.session.events.map(({ type }) => type));
    expect(run.prompts.map((prompt) => prompt.at(-1)?.role)).toEqual(['user', 'tool']);
    expect(run.calls[0]).toMatchObject({
      agent: 'worker',
      model: 'openai:gpt-5',
      invocationId: 'run_1',
      options: { tools: [{ name: 'add' }] },
    });
  });

  test(
    'of every agent that is reached are answered: parts, tools, callees, ' + 'successors',
    async () => {
      const expert = agent({ name: 'expert', model: openai('gpt-5'), description: 'Knows' });
      const asker = agent({
        name: 'asker',
        model: claude('claude-opus-4-1'),
        tools: [agentTool(expert)],
      });
      const caller = step({
        name: 'caller',
        execute: async (ctx) =>
          ctx.complete((await ctx.call(expert, { message: 'Again?' })).output ?? null),
      });
      const run = await runTest(sequence({ name: 'all', runnables: [asker, caller] }), [
        user('Go'),
        model(calls(['expert', { message: 'Well?' }]), { agent: 'asker' }),
        expectPrompt(
          (prompt) => expect(prompt.at(-1)).toMatchObject({ content: [{ text: 'Well?' }] }),
          { agent: 'expert' },
        ),
        model('First.', { agent: 'expert' }),
        model('Asked.'),
        model('Second.'),
      ]);
      expect(run.output).toBe('Second.');
      expect(run.calls.map(({ agent: name }) => name)).toEqual([
        'asker',
        'expert',
        'asker',
        'expert',
      ]);
    },
  );

  test(
    'in branches are told apart by their agents; those of one agent come in the order in ' +
      'which they were asked',
    async () => {
      const branch = (name: string) => agent({ name, model: real });
      const both = parallel({ name: 'both', runnables: [branch('left'), branch('right')] });
      const run = await runTest(both, [
        user('Go'),
        model('r', { agent: 'right' }),
        model('l', { agent: 'left' }),
      ]);
      expect(run.status).toBe('completed');
      const ends = run.events.flatMap((event) => (event.type === 'assistant' ? [event.text] : []));
      expect(ends).toEqual(['r', 'l']);
      const same = branch('same');
      const many = step({
        name: 'many',
        execute: async (ctx) => {
          const results = await Promise.all(
            ['a', 'b', 'c'].map((message) => ctx.call(same, { message })),
          );
          return ctx.complete(results.map(({ output }) => output).join());
        },
      });
      expect((await runTest(many, [model('1'), model('2'), model('3')])).output).toBe('1,2,3');
    },
  );

  test(
    'answer as functions of the call, with errors that are tried again in time, and with ' +
      'delays',
    async () => {
      const run = await runTest(withTools(), [
        user('Hello'),
        model({ error: Object.assign(new Error('Busy'), { statusCode: 503 }) }),
        advanceTime(500),
        model(({ prompt, agent: name }) => `${name} read ${prompt.length}`),
        user('And now?'),
        model({ chunks: ['a', 'b', 'c'], chunkDelayMs: 1_000, delayMs: 5_000 }),
        advanceTime(7_000),
      ]);
      expect(run.results.map(({ output }) => output)).toEqual(['worker read 1', 'abc']);
      expect(
        run.events.flatMap((event) => (event.type === 'model_end' ? [event.status] : [])),
      ).toEqual(['error', 'completed', 'completed']);
      expect(run.events.findLast((event) => event.type === 'model_end')).toMatchObject({
        durationMs: 7_000,
        timeToFirstTokenMs: 5_000,
      });
    },
  );

  test('that do not answer run out of time on the clock of the test', async () => {
    const run = await runTest(withTools(), [
      user('Hello'),
      advanceTime(60_000),
      advanceTime(500),
      model('Here I am.'),
    ]);
    expect(run.output).toBe('Here I am.');
    expect(run.events.find((event) => event.type === 'model_end')).toMatchObject({
      error: { code: 'model_timeout' },
    });
  });

  test('behind a text protocol answer as models do', async () => {
    const spoken = agent({ name: 'spoken', model: textProtocol(real), tools: [add] });
    expect(
      (await runTest(spoken, [user('?'), model(calls(['add', { a: 1, b: 1 }])), model('2')]))
        .output,
    ).toBe('2');
  });

  test('give structured outputs, and the type is that of the runnable', async () => {
    const counting = agent({ name: 'counting', model: real, output: z.object({ n: z.number() }) });
    const run = await runTest(counting, [user('How many?'), model('{"n": 3}')]);
    const n: number | undefined = run.output?.n;
    expect(n).toBe(3);
  });
});

describe('expectPrompt', () => {
  test('sees the prompt that the next model step answers', async () => {
    const seen: string[] = [];
    await runTest(withTools(add), [
      user('First'),
      expectPrompt(
        (prompt, call) => void seen.push(`${prompt.length} ${call.options.tools?.length}`),
      ),
      model(calls(['add', { a: 1, b: 2 }])),
      expectPrompt(async (prompt) => void seen.push(JSON.stringify(prompt.at(-1)))),
      model('Done'),
    ]);
    expect(seen).toEqual(['1 1', expect.stringContaining('"value":3')]);
  });
});
