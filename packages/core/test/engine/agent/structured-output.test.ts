import { type Agent, type AgentOptions, agent, output, runtime, sequence, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { answer, decisionsOf, lamp, product } from './product.ts';

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
      ...(seller as AgentOptions),
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
