import { agent, agentTool, parallel, type Runnable, sequence, step, tool } from 'adjutant';
import {
  advanceTime,
  answer,
  approve,
  crash,
  expectPrompt,
  input,
  model,
  type RunTestOptions,
  reject,
  result,
  runTest,
  type TestRun,
  type TestStep,
  user,
} from 'adjutant/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type StorePlace, storePlaces } from '../../store-places.ts';
import { real } from './real-tools.ts';

const calls = (...made: readonly (readonly [name: string, args?: object])[]) => ({
  toolCalls: made.map(([name, args = {}]) => ({ name, args: args as never })),
});

const cents = z.object({ cents: z.number().int() });
const ask = tool({
  name: 'ask',
  description: 'Asks',
  schema: z.object({ what: z.string() }),
  yieldSchema: z.object({ said: z.string() }),
});
const fetchPage = tool({
  name: 'fetchPage',
  description: 'Fetches',
  schema: z.object({}),
  recovery: 'rerun',
  execute: () => 'a page',
});
const pay = tool({
  name: 'pay',
  description: 'Pays',
  schema: cents,
  approval: { expiresInMs: 60_000 },
  recovery: 'rerun',
  execute: ({ args }) => `paid ${args.cents}`,
});

/** An agent with a sub-agent, parallel branches, and a step around them. */
function office(): Runnable<unknown> {
  const expert = agent({ name: 'expert', model: real, description: 'Knows', tools: [fetchPage] });
  const clerk = agent({
    name: 'clerk',
    model: real,
    tools: [ask, pay, agentTool(expert)],
    output: 'clerk',
  });
  const branch = (name: string) => agent({ name, model: real, tools: [fetchPage], output: name });
  return sequence({
    name: 'office',
    runnables: [
      clerk,
      parallel({ name: 'both', runnables: [branch('left'), branch('right')] }),
      step({
        name: 'sum',
        execute: (ctx) => {
          const { clerk: said, left, right } = ctx.state as Record<string, unknown>;
          return ctx.complete(`${said} ${left} ${right}`);
        },
      }),
    ],
  });
}

const script: readonly TestStep[] = [
  user('Go'),
  model(calls(['ask', { what: 'Who?' }], ['pay', { cents: 1 }], ['pay', { cents: 2 }])),
  approve({ args: { cents: 1 } }),
  input({ ask: { said: 'Ann' } }),
  reject('pay'),
  model({ error: Object.assign(new Error('Busy'), { statusCode: 503 }) }),
  advanceTime(500),
  model(calls(['expert', { message: 'Well?' }]), { agent: 'clerk' }),
  model(calls(['fetchPage']), { agent: 'expert' }),
  result({ fetchPage: 'a mocked page' }),
  model('It is so.', { agent: 'expert' }),
  model(calls(['pay', { cents: 3 }])),
  advanceTime(60_000),
  model('Done.', { agent: 'clerk' }),
  model(calls(['fetchPage']), { agent: 'right' }),
  model('L', { agent: 'left' }),
  model('R', { agent: 'right' }),
];

/** Returns the parts that no number of deaths of the process may change. */
function outcomeOf({ status, output, events, prompts }: TestRun): unknown {
  const settled = events.flatMap((event) =>
    event.type === 'tool_result' && event.settled ? [[event.callId, event.result]] : [],
  );
  return {
    status,
    output,
    results: settled.sort(([a], [b]) => String(a).localeCompare(String(b))),
    said: events.flatMap((event) => (event.type === 'assistant' ? [event.text] : [])).sort(),
    answers: events.flatMap((event) =>
      event.type === 'tool_input' ? [[event.decision, event.by]] : [],
    ),
    lastPrompt: prompts.at(-1)?.length,
  };
}

describe('crash() between every two steps changes nothing', () => {
  const withCrash = (at: number): TestStep[] => [
    ...script.slice(0, at),
    crash(),
    ...script.slice(at),
  ];

  test.each(script.map((_, index) => index + 1))('in memory, after step %i', async (at) => {
    const whole = await runTest(office(), script);
    const crashed = await runTest(office(), withCrash(at));
    expect(outcomeOf(crashed)).toEqual(outcomeOf(whole));
  });

  test('in memory, after each of them', async () => {
    const whole = await runTest(office(), script);
    const crashed = await runTest(
      office(),
      script.flatMap((one) => [one, crash()]),
    );
    expect(outcomeOf(crashed)).toEqual(outcomeOf(whole));
  });
});

describe.each(storePlaces)('in %s', (_name, makePlace) => {
  let place: StorePlace | undefined;
  let close: (() => Promise<void>) | undefined;

  afterEach(async () => {
    await close?.();
    await place?.remove();
  });

  async function onPlace(
    steps: readonly TestStep[],
    runnable = office(),
    options: RunTestOptions = {},
  ): Promise<TestRun> {
    place = await makePlace();
    const store = place.open();
    close = () => store.close();
    return runTest(runnable, steps, { ...options, store });
  }

  test('a test has the outcome that it has in memory, with and without crashes', async () => {
    const whole = outcomeOf(await runTest(office(), script));
    expect(outcomeOf(await onPlace(script))).toEqual(whole);
    await close?.();
    await place?.remove();
    expect(
      outcomeOf(
        await onPlace(script.flatMap((one, index) => (index % 2 === 0 ? [one, crash()] : [one]))),
      ),
    ).toEqual(whole);
  });

  test('what a crash left is in the store for others', async () => {
    const run = await onPlace(
      [user('Go'), model(calls(['pay', { cents: 5 }])), crash()],
      agent({ name: 'clerk', model: real, tools: [pay] }),
    );
    expect(run.status).toBe('yielded');
    expect(await run.app.requests.listPendingApprovals()).toMatchObject([
      { name: 'pay', summary: expect.stringContaining('5') },
    ]);
  });
});

describe('crash() in a tool', () => {
  function transferring(recovery: 'report' | 'rerun' | 'ask') {
    const done: string[] = [];
    const keys: string[] = [];
    const transfer = tool({
      name: 'transfer',
      description: 'Transfers',
      schema: cents,
      recovery,
      execute: ({ idempotencyKey }) => {
        keys.push(idempotencyKey);
        done.push('transferred');
        return 'transferred';
      },
    });
    return { done, keys, bank: agent({ name: 'bank', model: real, tools: [transfer] }) };
  }
  const begin = [user('Transfer'), model(calls(['transfer', { cents: 5 }]))];
  const told = (text: string): TestStep =>
    expectPrompt((prompt) => expect(JSON.stringify(prompt.at(-1))).toContain(text));

  test('before it has run: nobody knows, and nothing was done', async () => {
    const { done, bank } = transferring('report');
    const run = await runTest(bank, [
      ...begin,
      crash({ before: 'transfer' }),
      told('unknown'),
      model('I do not know.'),
    ]);
    expect(run.output).toBe('I do not know.');
    expect(done).toEqual([]);
  });

  test('after it has run: nobody knows, and it was done once', async () => {
    const { done, bank } = transferring('report');
    await runTest(bank, [
      ...begin,
      crash({ after: 'transfer' }),
      told('unknown'),
      model('I do not know.'),
    ]);
    expect(done).toEqual(['transferred']);
  });

  test('a tool that may run again does, with the same key', async () => {
    const { done, keys, bank } = transferring('rerun');
    await runTest(bank, [
      ...begin,
      crash({ after: 'transfer' }),
      told('transferred'),
      model('Done.'),
    ]);
    expect(done).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  test('somebody is asked what became of it', async () => {
    const { done, bank } = transferring('ask');
    const run = await runTest(bank, [
      ...begin,
      crash({ after: 'transfer' }),
      answer('succeeded', { tool: 'transfer', input: 'it went out', by: 'operator:eve' }),
      told('it went out'),
      model('Done.'),
    ]);
    expect(done).toHaveLength(1);
    expect(run.status).toBe('completed');
  });

  test('one that is held for its result is cut off like any other', async () => {
    const { done, bank } = transferring('rerun');
    await runTest(bank, [
      ...begin,
      crash(),
      result({ transfer: 'mocked' }),
      told('mocked'),
      model('Done.'),
    ]);
    expect(done).toEqual([]);
  });
});

test('what the process before was about to do it does not do after its crash', async () => {
  const done: string[] = [];
  const retrying = tool({
    name: 'retrying',
    description: 'Is tried again',
    schema: z.object({}),
    recovery: 'rerun',
    retry: { initialDelayMs: 1_000 },
    execute: ({ session }) => {
      done.push('run');
      if (session.events.filter(({ type }) => type === 'tool_attempt').length === 1)
        throw Object.assign(new Error('lost'), { code: 'ECONNRESET' });
      return 'ok';
    },
  });
  const run = await runTest(agent({ name: 'patient', model: real, tools: [retrying] }), [
    user('Go'),
    model(calls(['retrying'])),
    crash(),
    advanceTime(60_000),
    model('Done.'),
  ]);
  expect(done).toHaveLength(2);
  expect(run.status).toBe('completed');
});

test('what was dispatched goes on in the next process', async () => {
  const background = agent({ name: 'background', model: real });
  const front = step({
    name: 'front',
    execute: async (ctx) => {
      await ctx.dispatch(background, { message: 'Later' });
      return ctx.complete('sent');
    },
  });
  const run = await runTest(front, [crash(), model('Worked.', { agent: 'background' })], {
    runtime: { runnables: [background] },
  });
  expect(run.output).toBe('sent');
  expect(run.events.some((event) => event.type === 'assistant' && event.text === 'Worked.')).toBe(
    true,
  );
});
