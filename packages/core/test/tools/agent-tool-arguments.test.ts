import { agent, agentTool, type JsonObject, run, step, toolResult } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

const schema = z.object({ topic: z.string(), pages: z.int().default(3) });
type Args = z.output<typeof schema>;

/** Runs a boss that calls a tool once; returns the result and what the runnable was given. */
async function call(tool: ReturnType<typeof agentTool>, args: JsonObject) {
  const model = scriptedModel([{ toolCalls: [{ name: tool.name, args }] }, { text: 'Done.' }]);
  const { session } = await run(agent({ name: 'boss', model, tools: [tool] }), 'Go');
  const result = session.events.findLast((event) => event.type === 'tool_result')?.result;
  const start = session.events.find(
    (event) => event.type === 'invocation_start' && event.mode === 'call',
  );
  return { result, input: start?.type === 'invocation_start' ? start.input : undefined };
}

const researcher = () =>
  agent({ name: 'researcher', model: scriptedModel([{ text: 'Found it.' }]) });
const failing = (message = 'closed') =>
  step({ name: 'failing', execute: (ctx) => ctx.fail(message) });

describe('schema of agentTool', () => {
  test('the arguments are the data of the runnable, as the schema makes them', async () => {
    const { input, result } = await call(agentTool(researcher(), { schema }), { topic: 'oil' });
    expect(input).toEqual({ data: { topic: 'oil', pages: 3 } });
    expect(result).toMatchObject({ status: 'success', content: 'Found it.' });
  });

  test('the called model reads them', async () => {
    const model = scriptedModel([{ text: 'Found it.' }]);
    await call(agentTool(agent({ name: 'researcher', model }), { schema }), { topic: 'oil' });
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain('topic');
  });

  test('arguments that do not fit call nothing', async () => {
    const { input, result } = await call(agentTool(researcher(), { schema }), { topik: 'oil' });
    expect(input).toBeUndefined();
    expect(result).toMatchObject({ status: 'error_permanent', errorType: 'validation_error' });
  });

  test('plain JSON Schema', async () => {
    const plain = {
      type: 'object',
      properties: { topic: { type: 'string' } },
      required: ['topic'],
    };
    const made = agentTool(researcher(), { schema: plain });
    expect(made.inputSchema).toEqual(plain);
    expect((await call(made, { topic: 'oil' })).input).toEqual({ data: { topic: 'oil' } });
  });

  test('what the schema gives is checked by the `input` of the agent', async () => {
    const strict = agent({
      name: 'researcher',
      model: scriptedModel([{ text: 'Found it.' }]),
      input: z.object({ subject: z.string() }),
    });
    const unmapped = await call(agentTool(strict, { schema }), { topic: 'oil' });
    expect(unmapped.result).toMatchObject({ status: 'error_permanent' });
    expect(unmapped.input).toBeUndefined();
    const mapped = agentTool(strict, {
      schema,
      input: ({ topic }) => ({ data: { subject: topic } }),
    });
    expect((await call(mapped, { topic: 'oil' })).input).toEqual({ data: { subject: 'oil' } });
  });

  test('a schema that is none is refused', () => {
    expect(() => agentTool(researcher(), { schema: z.string() as never })).toThrow(
      'The tool "researcher" cannot be defined: `schema` must describe an object of arguments',
    );
    expect(() => agentTool(researcher(), { schema: 5 as never })).toThrow(/`schema`/);
  });
});

describe('input of agentTool', () => {
  test('a text is the message', async () => {
    const made = agentTool(researcher(), {
      schema,
      input: ({ topic, pages }) => `Write ${pages} pages about ${topic}.`,
    });
    expect((await call(made, { topic: 'oil', pages: 2 })).input).toEqual({
      message: 'Write 2 pages about oil.',
    });
  });

  test('message and data', async () => {
    const made = agentTool(researcher(), {
      schema,
      input: ({ topic, pages }) => ({ message: topic, data: { pages } }),
    });
    expect((await call(made, { topic: 'oil' })).input).toEqual({
      message: 'oil',
      data: { pages: 3 },
    });
  });

  test('without a schema it makes something of the message', async () => {
    const made = agentTool(researcher(), { input: ({ message }) => `In short: ${message}` });
    expect((await call(made, { message: 'oil' })).input).toEqual({ message: 'In short: oil' });
  });

  test('what it throws is the failure of the call', async () => {
    const made = agentTool(researcher(), {
      schema,
      input: () => {
        throw new Error('No such topic.');
      },
    });
    const { result, input } = await call(made, { topic: 'oil' });
    expect(result).toMatchObject({ errorType: 'tool_error', content: 'No such topic.' });
    expect(input).toBeUndefined();
  });

  test('what is no input is refused', async () => {
    const made = agentTool(researcher(), { schema, input: () => 7 as never });
    expect((await call(made, { topic: 'oil' })).result?.content).toBe(
      '`input` of the tool "researcher" must give a text or { message, data }: it gave 7.',
    );
  });
});

describe('failure of agentTool', () => {
  test('a text is what the model reads, and the call has failed', async () => {
    const made = agentTool(failing(), {
      schema,
      failure: ({ error }, { topic }) => `Nothing about ${topic}: ${error?.message}`,
    });
    expect((await call(made, { topic: 'oil' })).result).toMatchObject({
      status: 'error_permanent',
      errorType: 'step_failed',
      content: 'Nothing about oil: closed',
    });
  });

  test('a result of toolResult stays as it is', async () => {
    const made = agentTool(failing(), { failure: () => toolResult.success('Use the archive.') });
    expect((await call(made, { message: 'oil' })).result).toMatchObject({
      status: 'success',
      content: 'Use the archive.',
    });
  });

  test('is not asked when the runnable completed', async () => {
    const made = agentTool(researcher(), { failure: () => 'never' });
    expect((await call(made, { message: 'oil' })).result?.content).toBe('Found it.');
  });

  test('without it the model reads status and message', async () => {
    expect((await call(agentTool(failing()), { message: 'oil' })).result).toMatchObject({
      status: 'error_permanent',
      errorType: 'step_failed',
      content: 'failing ended as error: closed',
    });
  });
});

test('options that are no functions are refused', () => {
  expect(() => agentTool(researcher(), { input: 'x' as never })).toThrow('`input`');
  expect(() => agentTool(researcher(), { failure: 'x' as never })).toThrow('`failure`');
});

test('types follow from the schema and the runnable', () => {
  const priced = step({ name: 'priced', execute: (ctx) => ctx.complete({ cents: 1 }) });
  agentTool(priced, {
    schema,
    approval: { when: ({ args }) => args.pages > 3 },
    input: (args) => {
      expectTypeOf(args).toEqualTypeOf<Args>();
      return args.topic;
    },
    result: (output) => {
      expectTypeOf(output).toEqualTypeOf<{ cents: number }>();
      return output.cents;
    },
    failure: ({ output, status }, args) => {
      expectTypeOf(output).toEqualTypeOf<{ cents: number } | undefined>();
      expectTypeOf(args).toEqualTypeOf<Args>();
      return status;
    },
  });
  // @ts-expect-error the schema has no member `subject`
  agentTool(priced, { schema, input: ({ subject }) => subject });
  // @ts-expect-error a message is a text
  agentTool(priced, { schema, input: ({ pages }) => pages });
  // @ts-expect-error a failure is told as a text or a result of toolResult
  agentTool(priced, { schema, failure: () => 7 });
});
