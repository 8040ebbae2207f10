import {
  type AgentOptions,
  agent,
  memoryStore,
  output,
  runtime,
  type Tool,
  tool,
  toolResult,
} from 'adjutant';
import {
  appendBoundaries,
  continueFrom,
  type MakeScenario,
  roundModel,
  runWhole,
  type ScriptedResponse,
  scriptedModel,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const makeTool = (name: string, execute: () => unknown): Tool =>
  tool({
    name,
    description: `Does ${name}`,
    schema: z.object({}),
    recovery: 'rerun',
    execute: () => execute() as never,
  });

const report = (content: unknown = 'the report') =>
  makeTool('report', () => toolResult.success(content, { final: true }));

async function run(
  tools: readonly Tool[],
  responses: readonly ScriptedResponse[],
  more: Partial<AgentOptions> = {},
) {
  const model = scriptedModel(responses);
  const result = await runtime({ app: 'shop' }).run(
    agent({ name: 'worker', model, tools, ...more } as AgentOptions),
    'Work',
  );
  return { result, model };
}

const calling = (...names: readonly string[]): ScriptedResponse => ({
  toolCalls: names.map((name) => ({ name })),
});

test('a final result is the answer as it stands: the model is not asked again', async () => {
  const { result, model } = await run([report({ rows: 3 })], [calling('report')]);
  expect(result).toMatchObject({
    status: 'completed',
    output: { rows: 3 },
    stopReason: undefined,
    rounds: 1,
  });
  expect(model.calls).toHaveLength(1);
  expect(result.session.events.find(({ type }) => type === 'tool_result')).toMatchObject({
    result: { status: 'success', final: true },
  });
});

test('a plain object with the members of a result says so too', async () => {
  const { result } = await run(
    [makeTool('report', () => ({ status: 'success', content: 'done', final: true }))],
    [calling('report')],
  );
  expect(result.output).toBe('done');
});

test('a part of a result may be the last word', async () => {
  const part = makeTool('report', () => toolResult.partial('half of it', { final: true }));
  expect((await run([part], [calling('report')])).result.output).toBe('half of it');
});

test(
  'what comes with it is finished first; the first final result of the ' + 'round counts',
  async () => {
    const order: string[] = [];
    const look = makeTool('look', () => order.push('look'));
    const second = makeTool('second', () => toolResult.success('the second', { final: true }));
    const { result } = await run(
      [look, report('the first'), second],
      [calling('look', 'report', 'second')],
    );
    expect(result.output).toBe('the first');
    expect(order).toEqual(['look']);
    expect(result.session.events.filter(({ type }) => type === 'tool_result')).toHaveLength(3);
  },
);

test('a failure is not the answer, whatever it says of itself', async () => {
  const failing = makeTool('report', () => toolResult.permanent('no data', { final: true }));
  const { result, model } = await run([failing], [calling('report'), { text: 'There is none.' }]);
  expect(result.output).toBe('There is none.');
  expect(model.calls).toHaveLength(2);
});

describe('with an output', () => {
  const stateSchema = { session: { rows: z.object({ count: z.number().default(1) }) } };

  test('it is written under the key', async () => {
    expect(
      (await run([report()], [calling('report')], { output: 'summary' })).result.session.state,
    ).toEqual({ summary: 'the report' });
    const { result } = await run([report({})], [calling('report')], {
      output: output(stateSchema, 'rows'),
    });
    expect(result.output).toEqual({ count: 1 });
    expect(result.session.state).toEqual({ rows: { count: 1 } });
  });

  test.each([
    ['a schema', z.object({ count: z.number() })],
    [
      'a schema that checks asynchronously',
      z.object({ count: z.number() }).refine(() => Promise.resolve(true)),
    ],
    ['a key with a schema', output(stateSchema, 'rows')],
  ] as [string, AgentOptions['output']][])(
    'one that does not fit %s ends the agent as a validation error',
    async (_name, schema) => {
      const { result, model } = await run([report({ count: 'many' })], [calling('report')], {
        output: schema as never,
      });
      expect(result).toMatchObject({
        status: 'error',
        output: undefined,
        error: { code: 'validation_error', message: expect.stringContaining('$.count') },
      });
      expect(result.session.state).toEqual({});
      expect(model.calls).toHaveLength(1);
    },
  );

  test('it is not put to the check of a goal', async () => {
    const { result } = await run([report()], [calling('report')], { goal: { check: () => false } });
    expect(result).toMatchObject({ output: 'the report', stopReason: undefined });
  });
});

test('a result that is brought from outside may be final', async () => {
  const app = runtime({ app: 'shop', store: memoryStore(), recover: 'manual' });
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    schema: z.object({}),
    yieldSchema: z.string(),
    finalize: (ctx) => toolResult.success(ctx.result, { final: true }),
  });
  const worker = agent({ name: 'worker', model: scriptedModel([calling('ask')]), tools: [ask] });
  const waiting = await app.run(worker, 'Work');
  await waiting.session.addToolInput(waiting.pendingCalls[0]?.callId ?? '', 'from outside');
  expect(await app.run(worker, { session: waiting.session })).toMatchObject({
    status: 'completed',
    output: 'from outside',
  });
  await app.close();
});

const scenario: MakeScenario = () => {
  const once = (name: string, execute: () => unknown): Tool =>
    tool({ name, description: name, schema: z.object({}), execute: () => execute() as never });
  const tools = [
    once('look', () => 'seen'),
    once('report', () => toolResult.success({ count: 2 }, { final: true })),
  ];
  const model = roundModel([
    { toolCalls: [{ name: 'look' }] },
    { toolCalls: [{ name: 'look' }, { name: 'report' }] },
    { text: 'never' },
  ]);
  return {
    runnable: agent({ name: 'worker', model, tools, output: z.object({ count: z.number() }) }),
  };
};

test(
  'a process that stops between the final result and the end is continued to the same end, ' +
    'without another call',
  async () => {
    const whole = await runWhole(scenario);
    expect(whole.outcome.result).toMatchObject({ status: 'completed', output: { count: 2 } });
    const last = whole.events.findLast(({ type }) => type === 'tool_result')?.seq ?? 0;
    for (const cut of appendBoundaries(whole.events).filter((boundary) => boundary >= last)) {
      const { outcome, executions } = await continueFrom(scenario, whole.events.slice(0, cut));
      expect({ cut, executions, ...outcome.result }).toEqual({
        cut,
        executions: [],
        ...whole.outcome.result,
      });
    }
  },
);
