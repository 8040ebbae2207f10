import {
  type AgentOptions,
  agent,
  agentTool,
  type EventOf,
  type JsonValue,
  memoryStore,
  type Runnable,
  runtime,
  step,
  tool,
} from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

const order = z.object({ id: z.string(), cents: z.int().default(100) });
const jsonOrder = {
  type: 'object',
  properties: { id: { type: 'string' }, cents: { type: 'integer' } },
  required: ['id'],
} as const;

const clerk = (input: AgentOptions['input'], more: Partial<AgentOptions> = {}) =>
  agent({
    name: 'clerk',
    model: scriptedModel([{ text: 'done' }]),
    ...(input === undefined ? {} : { input }),
    ...more,
  } as AgentOptions);

/** Returns the result or error of a call by a step, and the clerk's part of the ledger. */
async function calling(
  runnable: Runnable,
  options: { readonly message?: string; readonly data?: JsonValue },
  how: 'call' | 'spawn' | 'dispatch' = 'call',
) {
  let thrown: unknown;
  const caller = step({
    name: 'caller',
    execute: async (ctx) => {
      try {
        const started = ctx[how](runnable, options);
        await ('wait' in started ? (started as { wait(): Promise<unknown> }).wait() : started);
      } catch (error) {
        thrown = error;
      }
    },
  });
  const result = await runtime({ app: 'shop', runnables: [runnable] }).run(caller);
  const started = result.session.events.filter(
    (event): event is EventOf<'invocation_start'> =>
      event.type === 'invocation_start' && event.name === 'clerk',
  );
  return { thrown, started, result };
}

describe.each(['call', 'spawn', 'dispatch'] as const)('ctx.%s', (how) => {
  test.each([
    ['a library', order],
    ['JSON Schema', jsonOrder],
  ] as [string, AgentOptions['input']][])(
    'refuses what does not fit a schema of %s, and records nothing',
    async (_name, input) => {
      const { thrown, started } = await calling(
        clerk(input),
        { data: { id: 17, secret: 'sesame' } },
        how,
      );
      expect(thrown).toMatchObject({ code: 'invalid_input', data: { runnable: 'clerk' } });
      expect(String(thrown)).toContain('$.id must be a string');
      expect(String(thrown)).not.toContain('sesame');
      expect(started).toEqual([]);
    },
  );

  test('starts with what the schema makes of the data', async () => {
    const { thrown, started } = await calling(clerk(order), { data: { id: 'a' } }, how);
    expect(thrown).toBeUndefined();
    expect(started.map(({ input }) => input)).toEqual([{ data: { id: 'a', cents: 100 } }]);
  });

  test('refuses a message alone', async () => {
    const { thrown, started } = await calling(clerk(order), { message: 'Order something' }, how);
    expect(thrown).toMatchObject({ code: 'invalid_input' });
    expect(started).toEqual([]);
  });
});

test(
  'a schema that checks asynchronously is waited for by call, and refused where ' + 'nobody waits',
  async () => {
    const known = order.refine(async ({ id }) => Promise.resolve(id === 'a'), 'an unknown order');
    expect((await calling(clerk(known), { data: { id: 'a' } })).started).toHaveLength(1);
    expect((await calling(clerk(known), { data: { id: 'b' } })).thrown).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('unknown order'),
    });
    for (const how of ['spawn', 'dispatch'] as const) {
      const { thrown, started } = await calling(clerk(known), { data: { id: 'a' } }, how);
      expect(thrown).toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('asynchronously'),
      });
      expect(started).toEqual([]);
    }
  },
);

test('what a schema makes of the data must be JSON', async () => {
  const { thrown, started } = await calling(
    clerk(z.object({ day: z.string().transform((day) => new Date(day)) })),
    { data: { day: '2026-01-01' } },
  );
  expect(thrown).toMatchObject({ code: 'not_json' });
  expect(started).toEqual([]);
});

test('an agent without a contract takes any data', async () => {
  expect(
    (await calling(clerk(undefined), { data: [1, 2] })).started.map(({ input }) => input),
  ).toEqual([{ data: [1, 2] }]);
});

describe('a tool made of an agent', () => {
  function asking(calls: readonly JsonValue[], input: AgentOptions['input'] = order) {
    const callee = scriptedModel([{ text: 'ordered' }]);
    const model = scriptedModel([
      ...calls.map((args) => ({ toolCalls: [{ name: 'clerk', args }] })),
      { text: 'fine' },
    ]);
    const caller = agent({
      name: 'caller',
      model,
      tools: [agentTool(clerk(input, { model: callee }))],
    });
    return { model, callee, caller };
  }

  test('shows the model the schema, and hands the data over', async () => {
    const { model, callee, caller } = asking([{ id: 'a', cents: 5 }]);
    const result = await runtime({ app: 'shop' }).run(caller, 'Order');
    expect(model.calls[0]?.tools).toMatchObject([
      { name: 'clerk', inputSchema: { type: 'object', required: ['id'] } },
    ]);
    expect(result.session.events).toContainEqual(
      expect.objectContaining({
        type: 'tool_result',
        result: { status: 'success', content: 'ordered' },
      }),
    );
    expect(JSON.stringify(callee.calls[0]?.prompt)).toContain('\\"cents\\":5');
  });

  test('tells the model what does not fit, without starting the agent', async () => {
    const { callee, caller } = asking([{ id: 17 }]);
    const result = await runtime({ app: 'shop' }).run(caller, 'Order');
    expect(callee.calls).toEqual([]);
    expect(result.session.events).toContainEqual(
      expect.objectContaining({
        type: 'tool_result',
        attempt: 0,
        result: expect.objectContaining({ errorType: 'validation_error' }),
      }),
    );
    expect(result.session.events.filter(({ type }) => type === 'invocation_start')).toHaveLength(1);
  });

  test('lets the schema work on the data once', async () => {
    const doubled = z.object({ id: z.string(), cents: z.int().transform((cents) => cents * 2) });
    const { callee, caller } = asking([{ id: 'a', cents: 5 }], doubled);
    await runtime({ app: 'shop' }).run(caller, 'Order');
    expect(JSON.stringify(callee.calls[0]?.prompt)).toContain('\\"cents\\":10');
  });

  test('must take an object', () => {
    expect(() => agentTool(clerk(z.string()))).toThrow(
      expect.objectContaining({ code: 'invalid_tool' }),
    );
  });

  test(
    'a tool that calls an agent with what does not fit fails as a ' + 'validation error',
    async () => {
      const inner = clerk(order);
      const send = tool({
        name: 'send',
        description: 'Sends',
        schema: z.object({}),
        execute: async (ctx) => (await ctx.call(inner, { data: {} })).status,
      });
      const model = scriptedModel([{ toolCalls: [{ name: 'send' }] }, { text: 'fine' }]);
      const result = await runtime({ app: 'shop' }).run(
        agent({ name: 'caller', model, tools: [send] }),
        'Send',
      );
      expect(result.session.events).toContainEqual(
        expect.objectContaining({
          type: 'tool_result',
          result: expect.objectContaining({ errorType: 'validation_error' }),
        }),
      );
    },
  );
});

describe('app.run with data', () => {
  test('starts the run with it, and the model is shown it', async () => {
    const model = scriptedModel([{ text: 'done' }]);
    const result = await runtime({ app: 'shop' }).run(clerk(order, { model }), {
      data: { id: 'a' },
    });
    expect(result).toMatchObject({ status: 'completed', output: 'done' });
    expect(result.session.events[0]).toMatchObject({
      type: 'invocation_start',
      input: { data: { id: 'a', cents: 100 } },
    });
    expect(model.calls[0]?.prompt).toEqual([
      { role: 'user', content: [{ type: 'text', text: '{"id":"a","cents":100}' }] },
    ]);
  });

  test('is refused when it does not fit, and no session comes to be', async () => {
    const app = runtime({ app: 'shop' });
    await expect(app.run(clerk(order), { data: { id: 17 }, session: 'new' })).rejects.toMatchObject(
      {
        code: 'invalid_input',
        message: expect.stringContaining('$.id must be a string'),
      },
    );
    expect(await app.sessions.list()).toMatchObject({ sessions: [] });
    expect(() => app.run(clerk(order), { data: (() => 1) as never })).toThrow(
      expect.objectContaining({ code: 'invalid_run' }),
    );
  });

  test('goes together with a message', async () => {
    const model = scriptedModel([{ text: 'done' }]);
    await runtime({ app: 'shop' }).run(clerk(order, { model }), {
      input: 'Be quick',
      data: { id: 'a' },
    });
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain('Be quick');
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain('\\"id\\":\\"a\\"');
  });

  test('is for runs that begin: an open one keeps what it began with', async () => {
    const store = memoryStore();
    const wait = tool({
      name: 'wait',
      description: 'Waits',
      schema: z.object({}),
      yieldSchema: z.string(),
    });
    const model = () =>
      scriptedModel((prompt) =>
        prompt.some(({ role }) => role === 'tool')
          ? { text: 'done' }
          : { toolCalls: [{ name: 'wait' }] },
      );
    const make = () => clerk(order, { model: model(), tools: [wait] });
    const first = await runtime({ app: 'shop', store, recover: 'manual' }).run(make(), {
      data: { id: 'x'.repeat(100_000) },
      session: 's',
      runId: 'r',
    });
    expect(first.status).toBe('yielded');
    const app = runtime({ app: 'shop', store, recover: 'manual', runnables: [make()] });
    const session = await app.sessions.open({ id: 's' });
    await expect(app.run(make(), { data: { id: 'b' }, session })).rejects.toMatchObject({
      code: 'invalid_run',
      message: expect.stringContaining('r'),
    });
    await expect(app.run(make(), { data: { id: 'b' }, session, runId: 'r' })).rejects.toMatchObject(
      { code: 'ledger_mismatch' },
    );
    await session.addToolInput(first.pendingCalls[0]?.callId ?? '', 'here');
    const result = await app.resume('s');
    expect(result).toMatchObject({ status: 'completed', output: 'done', runId: 'r' });
    await app.close();
  });

  test('a run of a chosen name is started once', async () => {
    const app = runtime({ app: 'shop' });
    const runnable = clerk(order);
    const first = await app.run(runnable, { data: { id: 'a' }, session: 's', runId: 'r' });
    const again = await app.run(runnable, { data: { id: 'a' }, session: 's', runId: 'r' });
    expect(again.output).toBe(first.output);
    expect(first.session.events.filter(({ type }) => type === 'invocation_start')).toHaveLength(1);
  });

  test('a run may begin with a message alone', async () => {
    expect((await runtime({ app: 'shop' }).run(clerk(order), 'Hello')).output).toBe('done');
  });
});

test.each([
  ['a schema without JSON Schema', z.date()],
  ['something else', 'order'],
])('%s is refused as input', (_name, input) => {
  expect(() => clerk(input as never)).toThrow(
    expect.objectContaining({ code: 'invalid_definition' }),
  );
});

test('what an agent gives has the type of its output', () => {
  const priced = agent({ name: 'priced', model: scriptedModel([]), output: z.number() });
  step({
    name: 'caller',
    execute: async (ctx) =>
      void expectTypeOf((await ctx.call(priced)).output).toEqualTypeOf<number | undefined>(),
  });
});

test.each([
  [
    'a text in the place of the options',
    'Find it',
    /"clerk" cannot be called: the options must be an object, not "Find it"/,
  ],
  ['a misspelt option', { mesage: 'Find it' }, /no option `mesage` \(did you mean `message`\?\)/],
  [
    'a time limit that is none',
    { timeoutMs: 0 },
    /`timeoutMs` must be a number greater than 0, not 0/,
  ],
])('%s of a call is refused, however it is called', async (_title, options, message) => {
  for (const how of ['call', 'spawn', 'dispatch'] as const) {
    const { thrown } = await calling(clerk(undefined), options as never, how);
    expect(thrown).toMatchObject({ code: 'invalid_run', message: expect.stringMatching(message) });
  }
});
