import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type ToolOptions, tool } from './tool.ts';
import { validateArgs, validateOutput } from './validate.ts';

type Schema = ToolOptions<unknown, unknown, unknown, never>['schema'];
const withSchema = (schema: unknown) =>
  tool({ name: 'order', description: '', schema: schema as Schema, execute: () => null });
const withOutput = (outputSchema: unknown) =>
  tool({
    name: 'order',
    description: '',
    schema: {},
    outputSchema: outputSchema as Record<string, never>,
    execute: () => null,
  });

const zodOrder = z.strictObject({
  items: z.array(z.object({ price: z.number().min(1), kind: z.enum(['x', 'y']) })),
  note: z.string().max(3).optional(),
  mail: z.email().optional(),
  count: z.int().optional(),
  id: z.union([z.string(), z.number()]).optional(),
  mode: z.literal('fast').optional(),
});
const jsonOrder = {
  type: 'object',
  additionalProperties: false,
  required: ['items'],
  properties: {
    items: {
      type: 'array',
      items: {
        type: 'object',
        required: ['price'],
        properties: { price: { type: 'number', minimum: 1 }, kind: { enum: ['x', 'y'] } },
      },
    },
    note: { type: 'string', maxLength: 3 },
    count: { type: 'integer' },
    id: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    mode: { const: 'fast' },
    mail: { type: 'string', format: 'email' },
    'unit price': { type: 'number' },
  },
};

describe.each([
  ['zod', zodOrder],
  ['JSON Schema', jsonOrder],
])('arguments checked by %s', (_, schema) => {
  const order = withSchema(schema);

  test('what fits passes unchanged', async () => {
    const args = { items: [{ price: 2, kind: 'x' }], count: 3 };
    expect(await validateArgs(order, args)).toEqual({ ok: true, args });
  });

  test.each<[string, unknown, string, string, RegExp]>([
    [
      'wrong kind',
      {
        items: [
          { price: 2, kind: 'x' },
          { price: '9', kind: 'x' },
        ],
      },
      '$.items[1].price',
      'the string "9"',
      /^a number$/,
    ],
    ['missing', {}, '$.items', 'nothing', /^an array$/],
    [
      'out of range',
      { items: [{ price: 0, kind: 'x' }] },
      '$.items[0].price',
      'the number 0',
      />= ?1/,
    ],
    [
      'not in the list',
      { items: [{ price: 1, kind: 'z' }] },
      '$.items[0].kind',
      'the string "z"',
      /^one of "x", "y"$/,
    ],
    ['too long', { items: [], note: 'abcdef' }, '$.note', 'the string "abcdef"', /3 characters/],
    ['fraction', { items: [], count: 1.5 }, '$.count', 'the number 1.5', /^a whole number$/],
    ['no branch', { items: [], id: true }, '$.id', 'the boolean true', /^a string or a number$/],
    ['constant', { items: [], mode: null }, '$.mode', 'null', /^"fast"$/],
    [
      'too much',
      { items: [], surprise: [1, 2] },
      '$.surprise',
      'an array of 2',
      /^no member of this name$/,
    ],
    ['not an object', 'text', '$', 'the string "text"', /^an object$/],
    ['nothing at all', undefined, '$', 'nothing', /^an object$/],
    [
      'long value',
      { items: 'y'.repeat(500) },
      '$.items',
      `the string "${'y'.repeat(40)}…"`,
      /^an array$/,
    ],
    ['object instead of array', { items: { a: 1 } }, '$.items', 'an object with a', /^an array$/],
  ])(
    'names field, what came and what was expected: %s',
    async (_case, args, path, came, expected) => {
      const outcome = await validateArgs(order, args);
      if (outcome.ok) throw new Error('it should not fit');
      expect(outcome.issues).toEqual([{ path, came, expected: expect.stringMatching(expected) }]);
      expect(outcome.message).toContain('"order"');
      expect(outcome.message).toContain(`${path}: came ${came}, expected `);
    },
  );

  test('all issues are found, ten are told', async () => {
    const outcome = await validateArgs(order, {
      items: Array.from({ length: 14 }, () => ({ price: 'x', kind: 'x' })),
    });
    if (outcome.ok) throw new Error('it should not fit');
    expect(outcome.issues).toHaveLength(14);
    expect(outcome.message).toContain('$.items[9].price');
    expect(outcome.message).not.toContain('$.items[10].price');
    expect(outcome.message).toContain('4 more');
  });
});

describe('Standard Schemas', () => {
  test('defaults and transforms apply', () => {
    const order = withSchema(z.object({ count: z.number().default(2), id: z.string().trim() }));
    expect(validateArgs(order, { id: ' 7 ' })).toEqual({ ok: true, args: { count: 2, id: '7' } });
  });

  test(
    'a synchronous schema is answered synchronously, an asynchronous one with ' + 'a promise',
    async () => {
      const asynchronous = withSchema(
        z.object({ id: z.string().refine(async (id) => id === 'known', 'an id that exists') }),
      );
      const outcome = validateArgs(asynchronous, { id: 'other' });
      expect(outcome).toBeInstanceOf(Promise);
      expect(await outcome).toMatchObject({
        ok: false,
        issues: [{ path: '$.id', came: 'the string "other"', expected: 'an id that exists' }],
      });
      expect(await validateArgs(asynchronous, { id: 'known' })).toEqual({
        ok: true,
        args: { id: 'known' },
      });
    },
  );

  test('unions of objects say which member would have helped', () => {
    const union = z.union([z.object({ kind: z.literal('a') }), z.object({ size: z.number() })]);
    expect(validateArgs(withSchema(union), {})).toMatchObject({
      issues: [{ expected: 'an object whose kind is "a" or an object whose size is a number' }],
    });
  });

  test('a library that says no more than the standard asks for is understood', () => {
    const plain = {
      '~standard': {
        version: 1,
        vendor: 'tiny',
        validate: () => ({
          issues: [{ message: 'must be even', path: [{ key: 'unit price' }, 0] }],
        }),
        jsonSchema: { input: () => ({}), output: () => ({}) },
      },
    };
    expect(validateArgs(withSchema(plain), { 'unit price': [3] })).toMatchObject({
      issues: [{ path: '$["unit price"][0]', came: 'the number 3', expected: 'even' }],
    });
  });

  test('a schema that throws is an invalid tool', async () => {
    const fails = () => {
      throw new Error('lookup is down');
    };
    const invalid = { code: 'invalid_tool', message: expect.stringContaining('lookup is down') };
    await expect(async () =>
      validateArgs(withSchema(z.object({ id: z.string().refine(fails) })), { id: 'x' }),
    ).rejects.toMatchObject(invalid);
    const json = { input: () => ({}), output: () => ({}) };
    const own = { '~standard': { version: 1, vendor: 'tiny', validate: fails, jsonSchema: json } };
    expect(() => validateArgs(withSchema(own), {})).toThrow(expect.objectContaining(invalid));
    const later = {
      '~standard': { version: 1, vendor: 'tiny', validate: async () => fails(), jsonSchema: json },
    };
    await expect(validateArgs(withSchema(later), {})).rejects.toMatchObject(invalid);
  });

  test('inherited members are not taken for given ones', () => {
    expect(validateArgs(withSchema(z.object({ toString: z.string() })), {})).toMatchObject({
      issues: [{ came: 'nothing' }],
    });
  });
});

describe('JSON Schema', () => {
  test('answers at once when its validator has been loaded', async () => {
    const schema = { type: 'object', required: ['id'] };
    await validateArgs(withSchema({ ...schema }), { id: 1 });
    const order = withSchema(schema);
    expect(validateArgs(order, { id: 1 })).toEqual({ ok: true, args: { id: 1 } });
    expect(validateArgs(order, {})).toMatchObject({ ok: false });
  });

  test('nothing is coerced, defaulted or removed', async () => {
    const order = withSchema({ properties: { n: { type: 'number', default: 3 } } });
    expect(await validateArgs(order, { n: '3' })).toMatchObject({ ok: false });
    expect(await validateArgs(order, { more: 1 })).toEqual({ ok: true, args: { more: 1 } });
  });

  test(
    'formats and unknown keywords are ignored; patterns without Unicode ' + 'rules work',
    async () => {
      const order = withSchema({
        properties: {
          a: { format: 'email', 'x-hint': 1 },
          b: { type: 'string', pattern: '^[\\w-.]+$' },
        },
      });
      expect(await validateArgs(order, { a: 'no mail', b: 'x-y.z' })).toMatchObject({ ok: true });
      expect(await validateArgs(order, { b: 'x y' })).toMatchObject({
        ok: false,
        issues: [{ path: '$.b' }],
      });
    },
  );

  test('draft 2020-12 is understood when it is named', async () => {
    const order = withSchema({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      properties: {
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
      },
    });
    expect(await validateArgs(order, { pair: ['a', 1] })).toMatchObject({ ok: true });
    expect(await validateArgs(order, { pair: ['a', 'b'] })).toMatchObject({
      issues: [{ path: '$.pair[1]', expected: 'a number' }],
    });
  });

  test('schemas with the same $id do not disturb each other', async () => {
    const one = withSchema({
      $id: 'https://example.test/s',
      properties: { a: { type: 'string' } },
    });
    const two = withSchema({
      $id: 'https://example.test/s',
      properties: { a: { type: 'number' } },
    });
    expect(await validateArgs(one, { a: 'x' })).toMatchObject({ ok: true });
    expect(await validateArgs(two, { a: 1 })).toMatchObject({ ok: true });
  });

  test.each([
    ['unknown type', { properties: { a: { type: 'strnig' } } }],
    ['reference to nothing', { properties: { a: { $ref: '#/definitions/none' } } }],
    ['asynchronous', { $async: true }],
  ])('a schema that cannot be compiled makes an invalid tool: %s', async (_, schema) => {
    await expect(validateArgs(withSchema(schema), {})).rejects.toMatchObject({
      code: 'invalid_tool',
      message: expect.stringContaining('"order"'),
    });
  });

  test('keys with slashes and tildes are named right', async () => {
    const order = withSchema({
      properties: { 'a/b': { properties: { '~c': { type: 'string' } } } },
    });
    expect(await validateArgs(order, { 'a/b': { '~c': 1 } })).toMatchObject({
      issues: [{ path: '$["a/b"]["~c"]', came: 'the number 1' }],
    });
  });
});

describe('validateOutput', () => {
  test('without a schema everything passes', () => {
    const plain = tool({ name: 'plain', description: '', schema: {}, execute: () => null });
    expect(validateOutput(plain, undefined)).toEqual({ ok: true, output: undefined });
  });

  test.each([
    ['zod', z.object({ total: z.number() })],
    [
      'JSON Schema',
      { type: 'object', required: ['total'], properties: { total: { type: 'number' } } },
    ],
  ])('%s', async (_, schema) => {
    const order = withOutput(schema);
    expect(await validateOutput(order, { total: 3 })).toEqual({ ok: true, output: { total: 3 } });
    expect(await validateOutput(order, { total: 'three' })).toMatchObject({
      ok: false,
      message: expect.stringMatching(
        /"order" ran, but[\s\S]*\$\.total: came the string "three", expected a number/,
      ),
    });
  });

  test('a JSON Schema of the output may be of any kind', async () => {
    expect(await validateOutput(withOutput({ type: 'string' }), 'x')).toEqual({
      ok: true,
      output: 'x',
    });
  });
});
