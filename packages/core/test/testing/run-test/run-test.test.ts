import { readFile } from 'node:fs/promises';
import { agent, loop, parallel, pending, step, tool, toolResult } from 'adjutant';
import {
  advanceTime,
  answer,
  approve,
  edit,
  expectPrompt,
  input,
  model,
  reject,
  result,
  runTest,
  user,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { add, calls, withTools } from './paying-agent.ts';
import { real } from './real-tools.ts';

function paying(options: object = {}) {
  const paid: unknown[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number().int() }),
    approval: true,
    execute: ({ args }) => {
      paid.push(args);
      return `paid ${args.cents}`;
    },
    ...options,
  });
  return { pay, paid };
}

describe('several turns', () => {
  test('go on in one session, each with its own result', async () => {
    const run = await runTest(withTools(), [
      user('a'),
      model('A'),
      user('b'),
      expectPrompt((prompt) => expect(prompt).toHaveLength(3)),
      model('B'),
    ]);
    expect(run.results.map(({ output, runId }) => [runId, output])).toEqual([
      ['run_1', 'A'],
      ['run_2', 'B'],
    ]);
  });

  test('a message to a run that is under way is in its next prompt', async () => {
    const run = await runTest(withTools(add), [
      user('Add'),
      user('And hurry'),
      model(calls(['add', { a: 1, b: 2 }])),
      expectPrompt((prompt) => expect(JSON.stringify(prompt)).toContain('And hurry')),
      model('3'),
    ]);
    expect(run.results).toHaveLength(1);
  });

  test('loops that wait for messages get them', async () => {
    const chat = loop({
      name: 'chat',
      runnable: agent({ name: 'talker', model: real }),
      maxIterations: 3,
      yields: true,
    });
    const run = await runTest(chat, [user('1'), model('one'), user('2'), model('two')]);
    expect(run).toMatchObject({ status: 'yielded', result: { awaitingInput: true } });
    const whole = await runTest(chat, [
      user('1'),
      model('one'),
      user('2'),
      model('two'),
      user('3'),
      model('three'),
    ]);
    expect(whole.status).toBe('completed');
  });
});

describe('tools', () => {
  test('get input, and results in the place of what they would do', async () => {
    let executions = 0;
    const book = tool({
      name: 'book',
      description: 'Books',
      schema: z.object({ date: z.string() }),
      yieldSchema: z.object({ confirmed: z.boolean() }),
      execute: () => {
        executions++;
        return { bookingId: 'real' };
      },
      finalize: ({ result: made, input: given }) => ({ ...(made as object), given }),
    });
    const run = await runTest(withTools(book), [
      user('Book'),
      model(calls(['book', { date: '2024-01-15' }])),
      input({ book: { confirmed: true } }),
      result({ book: { bookingId: '123' } }),
      model('Booked.'),
    ]);
    expect(executions).toBe(0);
    expect(run.events.find((event) => event.type === 'tool_result')).toMatchObject({
      result: { status: 'success', content: { bookingId: '123', given: { confirmed: true } } },
    });
  });

  test(
    'give mocked values by function, fail by errors, and run themselves where no step is ' +
      'about them',
    async () => {
      const done: string[] = [];
      const work = tool({
        name: 'work',
        description: 'Works',
        schema: z.object({ n: z.number() }),
        execute: ({ args }) => done.push(`${args.n}`),
      });
      const run = await runTest(withTools(work), [
        user('Go'),
        model(calls(['work', { n: 1 }])),
        model(calls(['work', { n: 2 }], ['work', { n: 3 }])),
        result({ work: ({ n }: { n: number }) => n * 10 }),
        result({ work: toolResult.permanent('no') }),
        model(calls(['work', { n: 4 }])),
        result({ work: new Error('broken') }),
        model('Done'),
      ]);
      expect(done).toEqual(['1']);
      const given = run.events.flatMap((event) =>
        event.type === 'tool_result' && event.settled ? [event.result.content] : [],
      );
      expect(given).toMatchObject([1, 20, 'no', expect.stringContaining('broken')]);
    },
  );

  test('may take real time, and read real files', async () => {
    const slow = tool({
      name: 'slow',
      description: 'Waits and reads',
      schema: z.object({}),
      execute: async () => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        return (await readFile(import.meta.filename, 'utf8')).length;
      },
    });
    const run = await runTest(withTools(slow), [user('Go'), model(calls(['slow'])), model('Read')]);
    expect(run.output).toBe('Read');
  });

  test('that never end run out of time', async () => {
    const stuck = tool({
      name: 'stuck',
      description: 'Hangs',
      schema: z.object({}),
      execute: () => new Promise(() => undefined),
    });
    const run = await runTest(withTools(stuck), [
      user('Go'),
      model(calls(['stuck'])),
      advanceTime(30_000),
      advanceTime(1_000),
      model('It hangs.'),
    ]);
    expect(run.events.find((event) => event.type === 'tool_result')).toMatchObject({
      result: { status: 'unknown' },
    });
    expect(run.output).toBe('It hangs.');
  });

  test('get the results of operations that go on elsewhere', async () => {
    const order = tool({
      name: 'order',
      description: 'Orders',
      schema: z.object({}),
      execute: () => pending({ operationId: 'o-1' }),
    });
    const run = await runTest(withTools(order), [
      user('Go'),
      model(calls(['order'])),
      input({ order: { arrived: true } }),
      model('It is here.'),
    ]);
    expect(run.events.find((event) => event.type === 'tool_yield')).toMatchObject({
      kind: 'result',
      request: { operationId: 'o-1' },
    });
    expect(run.events.find((event) => event.type === 'tool_result' && event.settled)).toMatchObject(
      { result: { content: { arrived: true } } },
    );
  });
});

describe('approvals', () => {
  test('are given, refused and edited, by whom it may be', async () => {
    const { pay, paid } = paying({
      approval: { mayDecide: ['user:ann', 'user:bob'], allowEdit: true },
    });
    const run = await runTest(withTools(pay), [
      user('Pay'),
      model(calls(['pay', { cents: 1 }], ['pay', { cents: 2 }], ['pay', { cents: 3 }])),
      reject({ tool: 'pay', args: { cents: 2 }, by: 'user:bob', reason: 'too much' }),
      edit({ pay: { cents: 30 } }, { args: { cents: 3 }, by: 'user:ann' }),
      approve({ tool: 'pay', by: 'ann' }),
      model('Done'),
    ]);
    expect(paid).toEqual([{ cents: 30 }, { cents: 1 }]);
    expect(
      run.events.flatMap((event) =>
        event.type === 'tool_input' ? [[event.decision, event.by]] : [],
      ),
    ).toEqual([
      ['reject', 'user:bob'],
      ['edit', 'user:ann'],
      ['approve', 'user:ann'],
    ]);
  });

  test('expire when their time is over', async () => {
    const { pay, paid } = paying({ approval: { expiresInMs: 60_000 } });
    const run = await runTest(withTools(pay), [
      user('Pay'),
      model(calls(['pay', { cents: 1 }])),
      advanceTime(59_999),
      advanceTime(1),
      model('Too late.'),
    ]);
    expect(run.output).toBe('Too late.');
    expect(paid).toEqual([]);
    expect(run.events.find((event) => event.type === 'tool_result')).toMatchObject({
      result: { errorType: 'expired' },
    });
  });

  test('escalate to somebody else, also while another branch works', async () => {
    const { pay, paid } = paying({
      approval: { expiresInMs: 60_000, onExpire: 'escalate', escalateTo: ['user:boss'] },
    });
    const other = agent({ name: 'other', model: real });
    const both = parallel({ name: 'both', runnables: [withTools(pay), other] });
    const run = await runTest(both, [
      user('Pay'),
      model(calls(['pay', { cents: 1 }]), { agent: 'worker' }),
      advanceTime(50_000),
      model('Other.', { agent: 'other' }),
      advanceTime(10_000),
      approve({ tool: 'pay', by: 'user:boss' }),
      model('Paid.'),
    ]);
    expect(paid).toEqual([{ cents: 1 }]);
    expect(run.status).toBe('completed');
  });

  test('other questions are answered with answer()', async () => {
    const limited = agent({
      name: 'limited',
      model: real,
      tools: [add],
      limits: { rounds: 1, onLimit: 'ask' },
    });
    const run = await runTest(limited, [
      user('Go'),
      model(calls(['add', { a: 1, b: 1 }])),
      answer('continue', { input: 2 }),
      model('2'),
    ]);
    expect(run.output).toBe('2');
  });
});

describe('options', () => {
  test(
    'the session begins as it is told to, with state, scopes, permissions and what a ' +
      'function puts there',
    async () => {
      const write = tool({
        name: 'write',
        description: 'Writes',
        schema: z.object({}),
        requiresPermission: ['fs:write'],
        execute: ({ state }) => `${state['mode']} ${(state['user'] as { theme: string }).theme}`,
      });
      const run = await runTest(
        withTools(write),
        [user('Go'), model(calls(['write'])), model('Written')],
        {
          session: { id: 'mine', userId: 'ann', permissions: ['fs:write'] },
          state: { mode: 'fast', user: { theme: 'dark' } },
          prepare: (session) => void session.addMessage('Before'),
        },
      );
      expect(run.session.id).toBe('mine');
      expect(run.events.find((event) => event.type === 'tool_result')).toMatchObject({
        result: { content: 'fast dark' },
      });
      expect(JSON.stringify(run.prompts[0])).toContain('Before');
    },
  );

  test('a recorded session goes on', async () => {
    const first = await runTest(withTools(), [user('a'), model('A')]);
    const run = await runTest(
      withTools(),
      [user('b'), expectPrompt((prompt) => expect(prompt).toHaveLength(3)), model('B')],
      {
        from: first.session.toJSON(),
      },
    );
    expect(run.output).toBe('B');
    expect(run.results.map(({ runId }) => runId)).toEqual(['run_2']);
  });

  test('runtime options, limits, data and a listener reach the run', async () => {
    const deltas: string[] = [];
    const typed = agent({ name: 'typed', model: real, input: z.object({ n: z.number() }) });
    const run = await runTest(typed, [model({ chunks: ['a', 'b'] })], {
      data: { n: 1 },
      runtime: { app: 'own', hooks: { afterAgent: (_ctx, output) => `${String(output)}!` } },
      onStream: (event) => void (event.type === 'assistant_delta' && deltas.push(event.delta)),
    });
    expect(run).toMatchObject({ output: 'ab!', session: { app: 'own' } });
    expect(deltas).toEqual(['a', 'b']);
    const limited = await runTest(
      withTools(add),
      [user('Go'), model(calls(['add', { a: 1, b: 1 }])), model('enough')],
      { limits: { rounds: 2 } },
    );
    expect(limited.status).toBe('completed');
  });

  test('runnables without models run to their end without a step', async () => {
    const run = await runTest(step({ name: 'only', execute: (ctx) => ctx.complete(42) }), []);
    expect(run.output).toBe(42);
  });
});
