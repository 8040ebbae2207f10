import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../../base/json.ts';
import { type Model, toModel } from '../../../models/model.ts';
import { openaiCompatible } from '../../../models/providers/openai-compatible.ts';
import { agent } from '../../../runnables/agent.ts';
import type { OutputOption } from '../../../runnables/output.ts';
import { scriptedModel } from '../../../testing/kit/scripted-model.ts';
import { answerRenderers, responseFormatOf, withFormat } from './answer-format.ts';

const model = scriptedModel([]);
const answering = (output: OutputOption) => agent({ name: 'my agent', model, output });
const held: Model = toModel(model);
const product = z.object({ name: z.string() });

function supporting(structuredOutputs: NonNullable<Model['structuredOutputs']>): Model {
  return { ...held, structuredOutputs };
}

describe('responseFormatOf', () => {
  test.each([
    ['always', true, 'json with schema'],
    ['always', false, 'json with schema'],
    ['without_tools', true, undefined],
    ['without_tools', false, 'json with schema'],
    ['never', true, undefined],
    ['never', false, 'json'],
  ] as const)(
    'of a model that can be held to a schema "%s", with tools %s: %s',
    (support, hasTools, expected) => {
      const format = responseFormatOf(answering(product), supporting(support), hasTools);
      const found =
        format?.type !== 'json'
          ? undefined
          : format.schema === undefined
            ? 'json'
            : 'json with schema';
      expect(found).toBe(expected);
    },
  );

  test('is the same object for the same output, so that settings of calls are made once', () => {
    const seller = answering(product);
    expect(responseFormatOf(seller, held, true)).toBe(responseFormatOf(seller, held, false));
  });

  test('has a name that providers take', () => {
    expect(responseFormatOf(answering(product), held, false)).toMatchObject({ name: 'my_agent' });
  });

  test.each([['notes'], [z.string()], [z.number()], [z.boolean()]])(
    'of %s there is none',
    (output) => {
      expect(responseFormatOf(answering(output as OutputOption), held, false)).toBeUndefined();
    },
  );
});

test('models say how far they can be held to a schema', () => {
  const at = { baseURL: 'http://127.0.0.1:1/v1', model: 'm' };
  expect(openaiCompatible(at).structuredOutputs).toBe('without_tools');
  expect(openaiCompatible({ ...at, structuredOutputs: false }).structuredOutputs).toBe('never');
  expect(
    toModel(Object.assign(scriptedModel([]), { supportsStructuredOutputs: false }))
      .structuredOutputs,
  ).toBe('never');
  expect(
    toModel(Object.assign(scriptedModel([]), { supportsStructuredOutputs: true }))
      .structuredOutputs,
  ).toBeUndefined();
});

test('the schema is told in words as soon as one of the models may not be held to it', () => {
  const fallback = agent({
    name: 'a',
    model: [model, supporting('without_tools')],
    output: product,
  });
  expect(answerRenderers(answering(product))).toHaveLength(0);
  expect(answerRenderers(fallback)).toHaveLength(1);
});

describe('withFormat', () => {
  const strict = (schema: OutputOption): boolean =>
    withFormat<{ readonly providerOptions?: unknown }>(
      {},
      responseFormatOf(answering(schema), held, false),
    ).providerOptions === undefined;

  test.each([
    ['an object', product],
    [
      'objects in objects and lists',
      z.object({ rows: z.array(product), first: product, last: product.nullable() }),
    ],
    ['a list', z.array(z.number())],
    ['some words', z.enum(['a', 'b'])],
    [
      'a member called additionalProperties',
      z.object({ additionalProperties: z.string(), oneOf: z.string() }),
    ],
  ])('leaves %s as it is', (_name, schema) => {
    expect(strict(schema)).toBe(true);
  });

  test.each([
    ['an optional member', z.object({ name: z.string().optional() })],
    [
      'an optional member deep inside',
      z.object({ rows: z.array(z.object({ name: z.string().optional() })) }),
    ],
    ['an open object', z.record(z.string(), z.number())],
    [
      'two descriptions of one object',
      {
        allOf: [
          { type: 'object', properties: { a: {} } },
          { type: 'object', properties: { b: {} } },
        ],
      } as JsonObject,
    ],
    [
      'a keyword in a definition',
      { type: 'object', properties: {}, required: [], $defs: { a: { oneOf: [] } } } as JsonObject,
    ],
  ])('asks OpenAI not to be strict about %s', (_name, schema) => {
    expect(strict(schema as OutputOption)).toBe(false);
  });

  test('lets the settings of the model decide', () => {
    const given = { providerOptions: { openai: { strictJsonSchema: true, store: false } } };
    const format = responseFormatOf(
      answering(z.object({ name: z.string().optional() })),
      held,
      false,
    );
    expect(withFormat(given, format).providerOptions).toMatchObject({
      openai: { strictJsonSchema: true, store: false },
    });
    expect(withFormat(given, undefined)).toBe(given);
  });
});
