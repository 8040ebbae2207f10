import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import {
  type Agent,
  type AgentOptions,
  agent,
  type Event,
  type EventOf,
  openai,
  openaiCompatible,
  output,
  type RunResult,
  runtime,
  sequence,
  tool,
} from 'adjutant';
import {
  allowRealModels,
  appendBoundaries,
  continueFrom,
  type MakeScenario,
  runWhole,
  type ScriptedModel,
  type ScriptedResponse,
  scriptedModel,
} from 'adjutant/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

// Providers are asked as in production; `fetch` is the test's.
allowRealModels();

const product = z.object({ name: z.string(), price: z.number() });
const lamp = '{"name":"Lamp","price":12}';

const decisionsOf = (events: readonly Event[]) =>
  events.filter(
    (event): event is EventOf<'decision'> =>
      event.type === 'decision' && event.component === 'output',
  );

async function answer(
  options: Partial<AgentOptions>,
  responses: readonly ScriptedResponse[],
): Promise<{ result: RunResult; model: ScriptedModel }> {
  const model = scriptedModel(responses);
  const result = await runtime({ app: 'shop' }).run(
    agent({ name: 'seller', model, ...options } as AgentOptions),
    'What do you sell?',
  );
  return { result, model };
}

const textsOf = (prompt: LanguageModelV4Prompt | undefined): string => JSON.stringify(prompt ?? []);

describe('what an answer becomes', () => {
  test.each([
    ['text as it stands', z.string(), '42', '42'],
    ['a number', z.number(), ' 42 ', 42],
    ['a number with groups of digits', z.number(), '1,234.5', 1234.5],
    ['a number between stars', z.int(), '**-7**.', -7],
    ['a truth value', z.boolean(), 'Yes.', true],
    ['the other truth value', z.boolean(), 'false', false],
    ['an object', product, lamp, { name: 'Lamp', price: 12 }],
    [
      'an object in a fence',
      product,
      `Here it is:\n\`\`\`json\n${lamp}\n\`\`\``,
      { name: 'Lamp', price: 12 },
    ],
    [
      'an object with a trailing comma',
      product,
      '{"name":"Lamp","price":12,}',
      { name: 'Lamp', price: 12 },
    ],
    ['a list', z.array(product), `{"value":[${lamp}]}`, [{ name: 'Lamp', price: 12 }]],
    ['a list that came bare', z.array(product), `[${lamp}]`, [{ name: 'Lamp', price: 12 }]],
    ['one of some words', z.enum(['low', 'high']), '{"value":"high"}', 'high'],
    ['one of two kinds', z.union([z.number(), product]), '{"value":3}', 3],
    ['nothing', z.null(), '{"value":null}', null],
    [
      'what the schema makes of it',
      z.object({ tags: z.string().transform((text) => text.split(',')) }),
      '{"tags":"a,b"}',
      { tags: ['a', 'b'] },
    ],
    [
      'JSON Schema',
      { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      lamp,
      { name: 'Lamp', price: 12 },
    ],
  ] as [string, AgentOptions['output'], string, unknown][])(
    '%s',
    async (_name, schema, text, expected) => {
      const { result } = await answer({ output: schema as never }, [{ text }]);
      expect(result.error).toBeUndefined();
      expect(result.output).toEqual(expected);
      expect(decisionsOf(result.session.events)).toEqual([]);
    },
  );

  test('a schema that checks asynchronously is waited for', async () => {
    const known = z
      .string()
      .refine(async (name) => Promise.resolve(name === 'Lamp'), 'an unknown product');
    expect((await answer({ output: known }, [{ text: 'Lamp' }])).result.output).toBe('Lamp');
    const { result } = await answer({ output: known }, [{ text: 'Chair' }, { text: 'Lamp' }]);
    expect(result.output).toBe('Lamp');
    expect(decisionsOf(result.session.events)).toMatchObject([
      { decision: 'repair', tell: expect.stringContaining('unknown product') },
    ]);
  });

  test('the answer is written to session state, as the value that it is', async () => {
    const stateSchema = { session: { product, notes: z.string() } };
    const { result } = await answer({ output: output(stateSchema, 'product') }, [{ text: lamp }]);
    expect(result.session.state).toMatchObject({ product: { name: 'Lamp', price: 12 } });
    const notes = await answer({ output: output(stateSchema, 'notes') }, [{ text: lamp }]);
    expect(notes.result.session.state).toMatchObject({ notes: lamp });
    expect(notes.model.calls[0]?.responseFormat).toBeUndefined();
  });

  test('a plain key takes the text as it is', async () => {
    const { result, model } = await answer({ output: 'notes' }, [{ text: lamp }]);
    expect(result.output).toBe(lamp);
    expect(result.session.state).toMatchObject({ notes: lamp });
    expect(model.calls[0]?.responseFormat).toBeUndefined();
  });

  test('what comes with tool calls is no answer', async () => {
    const look = tool({
      name: 'look',
      description: 'Looks',
      schema: z.object({}),
      readOnly: true,
      execute: () => 'a lamp',
    });
    const { result } = await answer({ output: product, tools: [look] }, [
      { text: 'I will look.', toolCalls: [{ name: 'look' }] },
      { text: lamp },
    ]);
    expect(result.output).toEqual({ name: 'Lamp', price: 12 });
    expect(decisionsOf(result.session.events)).toEqual([]);
  });
});

describe('what providers are asked for', () => {
  test('objects are asked for as they are, without members that have no name', async () => {
    const { model } = await answer({ output: product }, [{ text: lamp }]);
    const format = model.calls[0]?.responseFormat;
    expect(format).toMatchObject({
      type: 'json',
      name: 'seller',
      schema: { type: 'object', required: ['name', 'price'], additionalProperties: false },
    });
    expect(model.calls[0]?.providerOptions).toBeUndefined();
    expect(textsOf(model.calls[0]?.prompt)).not.toContain('JSON');
  });

  test(
    'everything else is asked for as the value of an object, with its references ' + 'kept right',
    async () => {
      interface Tree {
        readonly name: string;
        readonly children: readonly Tree[];
      }
      const tree: z.ZodType<Tree> = z.lazy(() =>
        z.object({ name: z.string(), children: z.array(tree) }),
      );
      const { model } = await answer({ output: z.array(tree) as never }, [
        { text: '{"value":[]}' },
      ]);
      const format = model.calls[0]?.responseFormat as { schema: object };
      expect(format.schema).toMatchObject({
        type: 'object',
        required: ['value'],
        properties: { value: { type: 'array' } },
      });
      const references = [...JSON.stringify(format.schema).matchAll(/"\$ref":"#([^"]*)"/g)].map(
        ([, pointer = '']) => pointer,
      );
      expect(references.length).toBeGreaterThan(0);
      for (const pointer of references) {
        const target = pointer
          .split('/')
          .slice(1)
          .reduce<unknown>(
            (part, key) => (part as Record<string, unknown> | undefined)?.[key],
            format.schema,
          );
        expect(target, pointer).toBeTypeOf('object');
      }
    },
  );

  test('OpenAI is told not to be strict about what it would refuse', async () => {
    const { model } = await answer(
      { output: z.object({ name: z.string(), price: z.number().optional() }) },
      [{ text: lamp }],
    );
    expect(model.calls[0]?.providerOptions).toEqual({
      openai: { strictJsonSchema: false },
      openaiCompatible: { strictJsonSchema: false },
    });
  });

  test('numbers and truth values are asked for in words', async () => {
    const { model } = await answer({ output: z.number() }, [{ text: '1' }]);
    expect(model.calls[0]?.responseFormat).toBeUndefined();
    expect(textsOf(model.calls[0]?.prompt)).toContain('one number and nothing else');
  });

  /** A server that first calls a tool and then answers, and what it was asked. */
  function server() {
    const bodies: {
      messages: unknown[];
      tools?: unknown[];
      response_format?: { type: string; json_schema?: { strict: boolean } };
    }[] = [];
    const replies = [
      {
        tool_calls: [
          { index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } },
        ],
      },
      { content: lamp },
    ];
    const send = (async (_url, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      const chunk = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' };
      const events = [
        {
          ...chunk,
          choices: [{ index: 0, delta: { role: 'assistant', ...replies[bodies.length - 1] } }],
        },
        { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      ];
      const text = [
        ...events.map((event) => `data: ${JSON.stringify(event)}\n\n`),
        'data: [DONE]\n\n',
      ].join('');
      return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
    }) as typeof fetch;
    return { bodies, send };
  }
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: z.object({}),
    readOnly: true,
    execute: () => 'a lamp',
  });

  test(
    'a server that holds everything to the schema is asked only when it is ' + 'offered no tools',
    async () => {
      const { bodies, send } = server();
      const model = openaiCompatible({ baseURL: 'http://127.0.0.1:1/v1', model: 'm', fetch: send });
      const seller = agent({
        name: 'seller',
        model,
        output: product,
        tools: [look],
        limits: { rounds: 1 },
      });
      expect((await runtime({ app: 'shop' }).run(seller, 'Sell')).output).toEqual({
        name: 'Lamp',
        price: 12,
      });
      // The first call offers tools; the last one, at the limit, does not.
      expect(bodies.map(({ response_format }) => response_format?.type)).toEqual([
        undefined,
        'json_schema',
      ]);
      for (const { messages } of bodies)
        expect(JSON.stringify(messages[0])).toContain('JSON Schema');
    },
  );

  test.each([
    ['strictly to a schema that it takes', product, true],
    [
      'loosely to one that it would refuse',
      z.object({ name: z.string(), price: z.number(), size: z.string().optional() }),
      false,
    ],
  ])('OpenAI is held %s, also while it is offered tools', async (_name, schema, strict) => {
    const { bodies, send } = server();
    const model = openai('gpt-4.1', {
      apiKey: 'k',
      fetch: send,
      endpoints: [{ type: 'openai', baseUrl: 'http://127.0.0.1:1/v1', api: 'chat' }],
    });
    const seller = agent({ name: 'seller', model, output: schema, tools: [look] });
    expect((await runtime({ app: 'shop' }).run(seller, 'Sell')).output).toEqual({
      name: 'Lamp',
      price: 12,
    });
    expect(
      bodies.map(({ tools, response_format }) => [
        tools?.length,
        response_format?.json_schema?.strict,
      ]),
    ).toEqual([
      [1, strict],
      [1, strict],
    ]);
  });
});

describe('an answer that does not fit', () => {
  test('is asked for again with what is wrong and with the schema', async () => {
    const { result, model } = await answer({ output: product }, [
      { text: '{"name":"Lamp","price":"twelve"}' },
      { text: lamp },
    ]);
    expect(result).toMatchObject({ status: 'completed', output: { name: 'Lamp', price: 12 } });
    const [repair, ...others] = decisionsOf(result.session.events);
    expect(others).toEqual([]);
    expect(repair).toMatchObject({ decision: 'repair', data: { repairs: 1 } });
    const told = textsOf(model.calls[1]?.prompt);
    expect(told).toContain('$.price: came the string');
    expect(told).toContain('additionalProperties');
    expect(result.rounds).toBe(2);
  });

  test('fails as a validation error when it was asked for again twice', async () => {
    const { result, model } = await answer({ output: product }, [
      { text: 'A lamp' },
      { text: 'Really, a lamp' },
      { text: '{"name":"Lamp"}' },
      { text: lamp },
    ]);
    expect(model.calls).toHaveLength(3);
    expect(result).toMatchObject({
      status: 'error',
      output: undefined,
      error: { code: 'validation_error', data: { agent: 'seller' } },
    });
    expect(result.error?.message).toContain('$.price must be a number');
    expect(decisionsOf(result.session.events).map(({ decision }) => decision)).toEqual([
      'repair',
      'repair',
      'invalid',
    ]);
    expect(result.session.state).toEqual({});
  });

  test('says nothing of the values where people read it', async () => {
    const { result } = await answer({ output: z.object({ pin: z.number() }) }, [
      { text: '{"pin":"sesame"}' },
      { text: '{"pin":1}' },
    ]);
    expect(decisionsOf(result.session.events)[0]?.reasoning).not.toContain('sesame');
  });

  test(
    'counts against the limit of rounds; the last answer that does not fit ' + 'either fails',
    async () => {
      const { result, model } = await answer({ output: product, limits: { rounds: 2 } }, [
        { text: 'A' },
        { text: 'B' },
        { text: 'C' },
        { text: lamp },
      ]);
      expect(result).toMatchObject({
        status: 'error',
        stopReason: 'round_limit',
        error: { code: 'validation_error' },
      });
      expect(decisionsOf(result.session.events).map(({ decision }) => decision)).toEqual([
        'repair',
        'repair',
        'invalid',
      ]);
      expect(decisionsOf(result.session.events).at(-1)?.reasoning).toContain('no round is left');
      expect(model.calls).toHaveLength(3);
    },
  );

  test(
    'counts against the limit of tokens, and fails when there are none for ' + 'another answer',
    async () => {
      const usage = { inputTokens: 300, outputTokens: 300 };
      const { result, model } = await answer({ output: product, limits: { tokens: 620 } }, [
        { text: 'A lamp', usage },
        { text: lamp, usage },
      ]);
      expect(result).toMatchObject({
        status: 'error',
        output: undefined,
        stopReason: 'token_limit',
        error: { code: 'validation_error' },
      });
      expect(model.calls).toHaveLength(1);
    },
  );

  test('a last answer at a limit that fits is taken', async () => {
    const { result } = await answer({ output: product, limits: { rounds: 1 } }, [
      { text: 'A lamp' },
      { text: lamp },
    ]);
    expect(result).toMatchObject({
      status: 'completed',
      output: { name: 'Lamp', price: 12 },
      stopReason: 'round_limit',
    });
  });

  test('what was cut off is not completed by guessing', async () => {
    const cut = { text: '{"name":"Lamp","price":12', finishReason: 'length' as const };
    const { result, model } = await answer({ output: product }, [cut, { text: lamp }]);
    expect(result.output).toEqual({ name: 'Lamp', price: 12 });
    expect(textsOf(model.calls[1]?.prompt)).toContain('Make it shorter');
  });

  test('an agent that failed for its answer and is reopened is asked again', async () => {
    const model = scriptedModel([{ text: 'A' }, { text: 'B' }, { text: 'C' }, { text: lamp }]);
    const app = runtime({
      app: 'shop',
      runnables: [agent({ name: 'seller', model, output: product })],
    });
    const seller = agent({ name: 'seller', model, output: product });
    const failed = await app.run(seller, 'What do you sell?');
    expect(failed.error?.code).toBe('validation_error');
    await app.sessions.reopen(failed.session, { path: failed.runId, reason: 'try again' });
    expect(await app.run(seller, { session: failed.session })).toMatchObject({
      status: 'completed',
      output: { name: 'Lamp', price: 12 },
    });
    expect(model.calls.at(-1)?.prompt.at(-1)).toMatchObject({ role: 'user' });
    expect(textsOf(model.calls.at(-1)?.prompt.slice(-1))).toContain(
      'There is no JSON in your answer',
    );
  });

  test('a schema that makes something else than JSON is said to', async () => {
    const dates = z.object({ day: z.string().transform((text) => new Date(text)) });
    const day = '{"day":"2026-01-01"}';
    const { result } = await answer({ output: dates }, [
      { text: day },
      { text: day },
      { text: day },
    ]);
    expect(result.error).toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('which is not JSON'),
    });
  });
});

/** Answers by how many answers its prompt shows, so that it goes on the same way after a stop. */
const repairing: MakeScenario = () => {
  const model = scriptedModel((prompt) => {
    const answers = prompt.filter(({ role }) => role === 'assistant').length;
    return { text: ['A lamp', '{"name":"Lamp"}', lamp][answers] ?? lamp };
  });
  return {
    runnable: agent({ name: 'seller', model, output: output({ session: { product } }, 'product') }),
  };
};

test(
  'a process that stops between an answer and its repair is continued as if ' + 'it had not',
  async () => {
    const whole = await runWhole(repairing);
    expect(whole.outcome.result).toMatchObject({
      status: 'completed',
      output: { name: 'Lamp', price: 12 },
    });
    expect(decisionsOf(whole.events).map(({ decision }) => decision)).toEqual(['repair', 'repair']);
    for (const cut of appendBoundaries(whole.events)) {
      const { outcome, events } = await continueFrom(repairing, whole.events.slice(0, cut));
      expect({ cut, ...outcome.result }).toEqual({ cut, ...whole.outcome.result });
      expect({ cut, repairs: decisionsOf(events).length }).toEqual({ cut, repairs: 2 });
    }
  },
);

test('one agent hands a value to the next by a key of the state', async () => {
  const stateSchema = { session: { product } };
  const first = scriptedModel([{ text: lamp }]);
  const second = scriptedModel([{ text: 'A lamp for 12.' }]);
  const find = agent({ name: 'find', model: first, output: output(stateSchema, 'product') });
  const describeIt = agent({
    name: 'describe',
    model: second,
    context: [
      (context) =>
        context.append({
          type: 'synthetic',
          role: 'user',
          text: `Describe ${JSON.stringify(context.state['session']?.['product'])}`,
        }),
    ],
    output: 'text',
  });
  const result = await runtime({ app: 'shop' }).run(
    sequence({ name: 'both', runnables: [find, describeIt] }),
    'Sell something',
  );
  expect(second.calls[0]?.prompt).toEqual([
    { role: 'user', content: [{ type: 'text', text: `Describe ${lamp}` }] },
  ]);
  expect(result.session.state).toEqual({
    product: { name: 'Lamp', price: 12 },
    text: 'A lamp for 12.',
  });
});

describe('definitions', () => {
  const model = scriptedModel([]);

  test.each([
    [
      'an unknown key',
      () => output({ session: { product } }, 'produkt' as 'product'),
      'has no such key',
    ],
    [
      'no schema of the session',
      () => output({} as { session: { product: typeof product } }, 'product'),
      'has no such key',
    ],
    [
      'a schema without JSON Schema',
      () => agent({ name: 'a', model, output: z.date() }),
      'cannot be written as JSON Schema',
    ],
    [
      'something else',
      () => agent({ name: 'a', model, output: 5 as never }),
      '`output` must be a key',
    ],
    ['an empty key', () => agent({ name: 'a', model, output: '' }), '`output` must be a key'],
  ])('%s is refused', (_name, make, reason) => {
    expect(make).toThrow(reason);
  });

  test('a definition can be spread into the options of another', async () => {
    const seller = agent({ name: 'seller', model, output: product, goal: { description: 'Sell' } });
    const again = agent({
      ...(seller as unknown as AgentOptions),
      model: scriptedModel([{ text: lamp }]),
    });
    expect(again.output).toBe(seller.output);
    expect((await runtime({ app: 'shop' }).run(again, 'Sell')).output).toEqual({
      name: 'Lamp',
      price: 12,
    });
  });

  test('the type of the answer follows from the output', () => {
    const stateSchema = { session: { product, count: z.number() } };
    expectTypeOf(agent({ name: 'a', model })).toEqualTypeOf<Agent<string, 'a'>>();
    expectTypeOf(agent({ name: 'a', model, output: 'notes' })).toEqualTypeOf<Agent<string, 'a'>>();
    expectTypeOf(agent({ name: 'a', model, output: product })).toEqualTypeOf<
      Agent<{ name: string; price: number }, 'a'>
    >();
    expectTypeOf(agent({ name: 'a', model, output: output(stateSchema, 'count') })).toEqualTypeOf<
      Agent<number, 'a'>
    >();
    // @ts-expect-error: there is no such key
    expect(() => output(stateSchema, 'weight')).toThrow('has no such key');
    agent({ name: 'a', model, output: product, goal: { check: (value) => value.price > 0 } });
    // @ts-expect-error: the answer has no such member
    agent({ name: 'a', model, output: product, goal: { check: (value) => value.weight > 0 } });
    const run = () =>
      runtime({ app: 'shop' }).run(agent({ name: 'a', model, output: product }), 'Sell');
    expectTypeOf<Awaited<ReturnType<typeof run>>['output']>().toEqualTypeOf<
      { name: string; price: number } | undefined
    >();
  });
});
