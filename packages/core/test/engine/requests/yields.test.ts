import {
  agent,
  agentTool,
  loop,
  memoryStore,
  parallel,
  pending,
  runtime,
  sequence,
  step,
  tool,
} from 'adjutant';
import { keptOpen, scriptedModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ask, asker } from './asker.ts';

describe('a tool that waits for input', () => {
  test('gates: the run yields with its call, and what was given is the result', async () => {
    const app = runtime({ app: 'yields' });
    const asking = asker();
    const first = await app.run(asking, 'Paint it');
    expect(first).toMatchObject({
      status: 'yielded',
      awaitingInput: false,
      yieldedInvocationId: first.runId,
    });
    expect(first.pendingCalls).toMatchObject([
      {
        name: 'ask',
        kind: 'input',
        args: { question: 'Which colour, asker?' },
        callId: `${first.runId}/r1.0`,
      },
    ]);
    expect(first.session.status).toBe('awaiting_input');
    const [call] = first.pendingCalls;
    first.session.addToolInput(call?.callId ?? '', { answer: 'red' });
    const second = await app.run(asking, { session: first.session });
    expect(second).toMatchObject({
      status: 'completed',
      output: 'Thank you.',
      runId: first.runId,
      pendingCalls: [],
    });
    const results = second.session.events.flatMap((event) =>
      event.type === 'tool_result' ? [event.result.content] : [],
    );
    expect(results).toEqual([{ question: 'Which colour, asker?', answer: 'red' }]);
  });

  test('goes on in a process that knows nothing but the store and the runnables', async () => {
    const store = keptOpen(memoryStore());
    const first = await runtime({
      app: 'yields',
      store,
      runnables: [asker()],
      recover: 'manual',
    }).run(asker(), 'Paint it');
    expect(first.status).toBe('yielded');
    const second = runtime({ app: 'yields', store, runnables: [asker()], recover: 'manual' });
    const session = await second.sessions.open({ id: first.session.id });
    expect(session.pendingYieldingCalls).toMatchObject([{ name: 'ask', accepted: false }]);
    session.addToolInput(session.pendingYieldingCalls[0]?.callId ?? '', { answer: 'blue' });
    expect(session.pendingYieldingCalls).toMatchObject([{ name: 'ask', accepted: true }]);
    // A scripted model begins at its start in a new process: the answer of the next round is given
    // by hand.
    const result = await second.resume(session.id);
    expect(result.session.events.filter(({ type }) => type === 'tool_result')).toHaveLength(1);
  });

  test('runs execute after the input', async () => {
    const executions: unknown[] = [];
    const confirm = tool({
      name: 'confirm',
      description: 'Ask before doing it',
      schema: z.object({ action: z.string() }),
      yieldSchema: z.object({ approved: z.boolean() }),
      execute: (ctx) => {
        executions.push(ctx.input);
        return ctx.input.approved ? `done: ${ctx.args.action}` : { declined: true };
      },
    });
    const app = runtime({ app: 'yields' });
    const doing = agent({
      name: 'doing',
      model: scriptedModel([
        { toolCalls: [{ name: 'confirm', args: { action: 'paint' } }] },
        { text: 'ok' },
      ]),
      tools: [confirm],
    });
    const first = await app.run(doing, 'Paint');
    expect(executions).toEqual([]);
    first.session.addToolInput(first.pendingCalls[0]?.callId ?? '', { approved: true });
    const second = await app.run(doing, { session: first.session });
    expect(second.status).toBe('completed');
    expect(executions).toEqual([{ approved: true }]);
  });
});

test('several calls of a round, in branches, are answered in any order', async () => {
  const app = runtime({ app: 'yields' });
  const both = parallel({ name: 'both', runnables: [asker('left'), asker('right')] });
  const whole = sequence({
    name: 'whole',
    runnables: [both, step({ name: 'after', execute: (ctx) => ctx.complete('end') })],
  });
  const first = await app.run(whole, 'Go');
  expect(first.pendingCalls.map(({ callId }) => callId)).toEqual([
    `${first.runId}/both/left/r1.0`,
    `${first.runId}/both/right/r1.0`,
  ]);
  first.session.addToolInput(`${first.runId}/both/right/r1.0`, { answer: 'right' });
  const second = await app.run(whole, { session: first.session });
  expect(second).toMatchObject({
    status: 'yielded',
    pendingCalls: [{ callId: `${first.runId}/both/left/r1.0` }],
  });
  second.session.addToolInput(`${first.runId}/both/left/r1.0`, { answer: 'left' });
  const third = await app.run(whole, { session: second.session });
  expect(third).toMatchObject({ status: 'completed', output: 'end' });
});

test('a loop with yields waits for a message between its iterations', async () => {
  const app = runtime({ app: 'yields' });
  const chat = loop({
    name: 'chat',
    runnable: agent({
      name: 'talker',
      model: scriptedModel([{ text: 'one' }, { text: 'two' }, { text: 'three' }]),
    }),
    maxIterations: 3,
    yields: true,
  });
  const first = await app.run(chat, 'Hello');
  expect(first).toMatchObject({
    status: 'yielded',
    awaitingInput: true,
    yieldedInvocationId: first.runId,
    pendingCalls: [],
  });
  first.session.addMessage('Go on', first.yieldedInvocationId);
  const second = await app.run(chat, { session: first.session });
  expect(second).toMatchObject({ status: 'yielded', awaitingInput: true });
  const third = await app.run(chat, { session: second.session, input: 'And on' });
  expect(third).toMatchObject({ status: 'completed', output: 'three' });
});

test('an operation that goes on elsewhere gives its result later', async () => {
  const app = runtime({ app: 'yields' });
  const begin = tool({
    name: 'begin',
    description: 'Begins an export',
    schema: z.object({}),
    execute: (ctx) => pending({ operationId: `export-${ctx.callId.slice(-4)}` }),
  });
  const exporter = agent({
    name: 'exporter',
    model: scriptedModel([{ toolCalls: [{ name: 'begin', args: {} }] }, { text: 'exported' }]),
    tools: [begin],
  });
  const first = await app.run(exporter, 'Export');
  expect(first).toMatchObject({
    status: 'yielded',
    pendingCalls: [{ kind: 'result', request: { operationId: 'export-r1.0' } }],
  });
  first.session.addToolResult(first.pendingCalls[0]?.callId ?? '', {
    url: 'https://example.com/x',
  });
  const second = await app.run(exporter, { session: first.session });
  expect(second.status).toBe('completed');
  expect(second.session.events.filter(({ type }) => type === 'tool_attempt')).toHaveLength(1);
  expect(second.session.events.findLast(({ type }) => type === 'tool_result')).toMatchObject({
    settled: true,
    attempt: 1,
    result: { status: 'success', content: { url: 'https://example.com/x' } },
  });
});

test('an approval that nobody gives expires', async () => {
  const clock = testClock();
  const app = runtime({ app: 'yields', ports: { clock } });
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number() }),
    approval: true,
    execute: () => 'paid',
  });
  const payer = agent({
    name: 'payer',
    model: scriptedModel([{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }, { text: 'ended' }]),
    tools: [pay],
  });
  const first = await app.run(payer, 'Pay');
  expect(first).toMatchObject({
    status: 'yielded',
    pendingApprovals: [{ name: 'pay', kind: 'approval' }],
  });
  clock.advance(30 * 60_000);
  const second = await app.run(payer, { session: first.session });
  expect(second.status).toBe('completed');
  expect(second.session.events.findLast(({ type }) => type === 'tool_result')).toMatchObject({
    result: { status: 'error_blocked', errorType: 'expired' },
  });
});

test(
  'what an agent three levels down asks is answered in another process, and ' + 'goes back up',
  async () => {
    const store = keptOpen(memoryStore());
    const make = (scripts: { low: number; middle: number; top: number }) => {
      const low = agent({
        name: 'low',
        model: scriptedModel(
          [
            { toolCalls: [{ name: 'ask', args: { question: 'Which?' } }] },
            { text: 'low is done' },
          ].slice(scripts.low),
        ),
        tools: [ask],
      });
      const middle = agent({
        name: 'middle',
        model: scriptedModel(
          [
            { toolCalls: [{ name: 'low', args: { message: 'Ask' } }] },
            { text: 'middle is done' },
          ].slice(scripts.middle),
        ),
        tools: [agentTool(low)],
      });
      return agent({
        name: 'top',
        model: scriptedModel(
          [
            { toolCalls: [{ name: 'middle', args: { message: 'Ask' } }] },
            { text: 'top is done' },
          ].slice(scripts.top),
        ),
        tools: [agentTool(middle)],
      });
    };
    const first = await runtime({ app: 'yields', store, recover: 'manual' }).run(
      make({ low: 0, middle: 0, top: 0 }),
      'Go',
    );
    expect(first).toMatchObject({ status: 'yielded', pendingCalls: [{ name: 'ask' }] });
    const second = runtime({
      app: 'yields',
      store,
      recover: 'manual',
      runnables: [make({ low: 1, middle: 1, top: 1 })],
    });
    await second.requests.answer(first.pendingCalls[0]?.requestId ?? '', {
      input: { answer: 'red' },
    });
    expect(await second.resume(first.session.id)).toMatchObject({
      status: 'completed',
      output: 'top is done',
      runId: first.runId,
    });
  },
);

test(
  'a message answers the one call that waits for a text, and is told to the model when ' +
    'nothing waits for it',
  async () => {
    const app = runtime({ app: 'yields' });
    const askText = tool({
      name: 'askText',
      description: 'Asks',
      schema: z.object({}),
      yieldSchema: z.string().min(2),
    });
    const model = scriptedModel([
      { toolCalls: [{ name: 'askText', args: {} }] },
      { text: 'Thank you.' },
    ]);
    const asking = agent({ name: 'asking', model, tools: [askText] });
    const first = await app.run(asking, { session: 's', input: 'Paint it' });
    expect(first.status).toBe('yielded');
    expect(await app.run(asking, { session: 's', input: 'x' })).toMatchObject({
      status: 'yielded',
      pendingCalls: [{ name: 'askText' }],
    });
    const last = await app.run(asking, { session: 's', input: 'red' });
    expect(last).toMatchObject({ status: 'completed', output: 'Thank you.' });
    expect(last.session.events.findLast(({ type }) => type === 'tool_result')).toMatchObject({
      result: { content: 'red' },
    });
    const users = last.session.events.flatMap((event) =>
      event.type === 'user' ? [event.text] : [],
    );
    expect(users).toEqual(['Paint it', 'x']);
  },
);

test(
  'what is wrong with pending() leaves the outcome unknown, since the operation may have ' +
    'begun',
  async () => {
    const begin = tool({
      name: 'begin',
      description: 'Begins',
      schema: z.object({}),
      execute: () => pending({ operationId: '' }),
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'begin', args: {} }] }, { text: 'unsure' }]);
    const { session } = await runtime({ app: 'yields' }).run(
      agent({ name: 'a', model, tools: [begin] }),
      'Go',
    );
    expect(session.events.find(({ type }) => type === 'tool_result')).toMatchObject({
      effect: 'unknown',
      result: { status: 'unknown' },
    });
    expect(() => session.addMessage('Hello', 'nope')).toThrow(/no invocation "nope"/);
  },
);
