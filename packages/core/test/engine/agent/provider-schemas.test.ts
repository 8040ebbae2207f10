import { agent, openai, openaiCompatible, runtime, tool } from 'adjutant';
import { allowRealModels } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { answer, lamp, product, textsOf } from './product.ts';

// Providers are asked as in production; `fetch` is the test's.
allowRealModels();

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
