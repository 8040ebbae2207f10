import type { JsonObject, JsonValue } from 'adjutant';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { checkField, type Typed } from '../../../src/tui/requests/check-field.ts';
import { checkForm, firstTyped, partialValue } from '../../../src/tui/requests/check-form.ts';
import { type Field, fieldsOf, keyOf } from '../../../src/tui/requests/field.ts';
import { formOf } from '../../../src/tui/requests/form.ts';

const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
});

/** The one field of a schema. */
function field(schema: JsonObject, required = true): Field {
  const [only] = fieldsOf(formOf(object({ it: schema }, required ? ['it'] : [])));
  return only as Field;
}

const problem = (schema: JsonObject, typed: Typed): string | undefined =>
  checkField(field(schema), typed).problem;
const value = (schema: JsonObject, typed: Typed): JsonValue | undefined =>
  checkField(field(schema), typed).value;

test.each<[string, JsonObject, object]>([
  ['five values', { enum: ['a', 'b', 'c', 'd', 'e'] }, { kind: 'choice', isPopup: false }],
  ['six values', { enum: [1, 2, 3, 4, 5, 6] }, { kind: 'choice', isPopup: true }],
  [
    'values with titles',
    { oneOf: [{ const: 'w', title: 'window' }, { const: 'a' }] },
    {
      kind: 'choice',
      choices: [
        { value: 'w', label: 'window' },
        { value: 'a', label: 'a' },
      ],
    },
  ],
  ['true or false', { type: 'boolean' }, { kind: 'boolean' }],
  ['a number', { type: 'number' }, { kind: 'number', isInteger: false }],
  ['a whole number', { type: 'integer' }, { kind: 'number', isInteger: true }],
  ['a date', { type: 'string', format: 'date' }, { kind: 'text', format: 'date', isLong: false }],
  ['a text', { type: 'string', maxLength: 200 }, { kind: 'text', isLong: false, isSecret: false }],
  ['a long text', { type: 'string', maxLength: 201 }, { kind: 'text', isLong: true }],
  ['an area', { type: 'string', format: 'textarea' }, { kind: 'text', isLong: true }],
  ['a password', { type: 'string', format: 'password' }, { kind: 'text', isSecret: true }],
  ['a secret', { type: 'string', writeOnly: true }, { kind: 'text', isSecret: true }],
  ['several values', { type: 'array', items: { enum: ['a', 'b'] } }, { kind: 'choices' }],
  ['a list', { type: 'array', items: { type: 'integer' } }, { kind: 'list', of: 'integer' }],
  ['a list of objects', { type: 'array', items: { type: 'object' } }, { kind: 'json' }],
  ['alternatives', { oneOf: [{ type: 'string' }, { type: 'number' }] }, { kind: 'json' }],
  ['a map', { type: 'object', additionalProperties: { type: 'string' } }, { kind: 'json' }],
  ['anything', {}, { kind: 'json' }],
  [
    'a text or null',
    { anyOf: [{ type: 'string' }, { type: 'null' }] },
    { kind: 'text', takesNull: true },
  ],
  ['a number or null', { type: ['number', 'null'] }, { kind: 'number', takesNull: true }],
])('%s', (_, schema, kind) => {
  expect(field(schema)).toMatchObject(kind);
});

test('labels, descriptions, defaults and what is required come from the schema', () => {
  const form = formOf(
    object(
      {
        name: { type: 'string', title: 'Name', description: 'as in the passport' },
        seat: { enum: ['window', 'aisle'], default: 'aisle' },
      },
      ['name'],
    ),
  );
  expect(fieldsOf(form)).toMatchObject([
    { path: ['name'], label: 'Name', description: 'as in the passport', isRequired: true },
    { path: ['seat'], label: 'seat', isRequired: false },
  ]);
  expect([...firstTyped(form).values()]).toEqual([undefined, 1]);
});

test('objects are fields below a heading, two levels deep; references are followed', () => {
  const deep = object({ b: object({ c: object({ d: { type: 'string' } }) }) });
  const parts = formOf(object({ a: deep })).parts;
  expect(parts.map(({ kind, path }) => [kind, path.join('.')])).toEqual([
    ['heading', 'a'],
    ['heading', 'a.b'],
    ['json', 'a.b.c'],
  ]);
  const schema = { ...object({ home: { $ref: '#/$defs/place' } }), $defs: { place: deep } };
  expect(formOf(schema).parts.map(({ kind }) => kind)).toEqual(['heading', 'heading', 'json']);
  const circle = { $ref: '#/$defs/me', $defs: { me: { $ref: '#/$defs/me' } } };
  expect(formOf(circle).parts).toMatchObject([{ kind: 'json', path: [] }]);
});

test('a value that is no object is one field', () => {
  const form = formOf({ type: 'string', minLength: 2 });
  expect(form.parts).toMatchObject([{ kind: 'text', path: [], label: 'Answer', isRequired: true }]);
  expect(checkForm(form, new Map([['[]', 'yes']]))).toEqual({ isWhole: true, value: 'yes' });
});

test.each<[JsonObject, Typed, string]>([
  [{ type: 'string', format: 'date' }, '1815-12-1', 'must be a date: 1815-12-1'],
  [{ type: 'string', format: 'date' }, '2026-02-29', 'must be a date: 2026-02-29'],
  [
    { type: 'string', format: 'date-time' },
    '2026-01-31 25:00Z',
    'must be a date and time: 2026-01-31 25:00Z',
  ],
  [{ type: 'string', format: 'email' }, 'ada@', 'must be an email address: ada@'],
  [{ type: 'string', format: 'uri' }, 'example.com', 'must be an address: example.com'],
  [{ type: 'number' }, '1,5', 'must be a number: 1,5'],
  [{ type: 'number' }, 'Infinity', 'must be a number: Infinity'],
  [{ type: 'integer' }, '1.5', 'must be a whole number: 1.5'],
  [{ type: 'integer', maximum: 5_000 }, '6000', 'must be ≤ 5000: 6000'],
  [{ type: 'number', exclusiveMinimum: 0 }, '0', 'must be > 0: 0'],
  [{ type: 'number', multipleOf: 0.1 }, '0.25', 'must be a multiple of 0.1: 0.25'],
  [{ type: 'string', minLength: 3 }, 'ab', 'must have at least 3 characters, has 2'],
  [{ type: 'string', maxLength: 1 }, '日本', 'must have at most 1 character, has 2'],
  [{ type: 'string', pattern: '^[A-Z]+$' }, 'abc', 'must match ^[A-Z]+$: abc'],
  [{ type: 'string', format: 'password', pattern: '^.{8}' }, 'abc', 'must match ^.{8}'],
  [{ type: 'array', items: { type: 'number' } }, '1\n\nx', 'line 3 must be a number: x'],
  [
    { type: 'array', items: { type: 'string' }, minItems: 2 },
    'a',
    'must have at least 2 entries, has 1',
  ],
  [
    { type: 'array', items: { type: 'string' }, uniqueItems: true },
    'a\na',
    'must not have an entry twice: "a"',
  ],
  [
    { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 1 },
    [0, 1],
    'must have at most 1 entry, has 2',
  ],
  [{ type: 'string' }, '', 'is required'],
  [{ enum: ['a', 'b'] }, undefined, 'is required'],
])('%j refuses %j: %s', (schema, typed, message) => {
  expect(problem(schema, typed)).toBe(message);
});

test('a JSON field says where its fault is', () => {
  expect(problem({}, '{"a": }')).toMatch(/^must be JSON: Unexpected token/);
});

test.each<[JsonObject, Typed, JsonValue]>([
  [{ type: 'string', format: 'date' }, ' 1815-12-10 ', '1815-12-10'],
  [
    { type: 'string', format: 'date-time' },
    '2026-01-31T12:00:00+01:00',
    '2026-01-31T12:00:00+01:00',
  ],
  [{ type: 'string' }, ' kept ', ' kept '],
  [{ type: 'string', minLength: 0 }, '', ''],
  [{ type: 'number' }, '-1.5e3', -1_500],
  [{ type: 'number', multipleOf: 0.1 }, '0.3', 0.3],
  [{ type: 'boolean' }, undefined, false],
  [{ enum: [1, 'two'] }, 1, 'two'],
  [{ type: 'array', items: { enum: ['a', 'b', 'c'] } }, [2, 0], ['a', 'c']],
  [{ type: 'array', items: { type: 'string' } }, 'a\n\n b ', ['a', 'b']],
  [{ type: 'array', items: { type: 'string' } }, undefined, []],
  [{ type: ['string', 'null'] }, '', null],
  [{}, '{"a":[1]}', { a: [1] }],
  [{ type: 'string', pattern: '(' }, 'x', 'x'],
])('%j takes %j', (schema, typed, expected) => {
  expect(value(schema, typed)).toEqual(expected);
});

test('fields that nobody filled in are left out, and so are objects of such fields', () => {
  const place = object({ city: { type: 'string' }, zip: { type: 'string' } }, ['city']);
  const form = formOf(object({ note: { type: 'string' }, home: place, work: place }, ['work']));
  const typed = new Map([[keyOf({ path: ['work', 'city'] }), 'London']]);
  expect(checkForm(form, typed)).toEqual({ isWhole: true, value: { work: { city: 'London' } } });
  const half = new Map([...typed, [keyOf({ path: ['home', 'zip'] }), '1']]);
  expect(checkForm(form, half)).toEqual({
    isWhole: false,
    problems: new Map([[keyOf({ path: ['home', 'city'] }), 'is required']]),
  });
  expect(partialValue(form, half)).toEqual({ work: { city: 'London' }, home: { zip: '1' } });
});

test('a form is filled with given arguments, and gives them back', () => {
  const schema = z.toJSONSchema(
    z.object({
      to: z.array(z.email()),
      amount: z.number(),
      urgent: z.boolean().optional(),
      how: z.enum(['mail', 'post']).nullable(),
      from: z.object({ name: z.string(), born: z.iso.date().optional() }),
      more: z.record(z.string(), z.number()),
    }),
  ) as JsonObject;
  const form = formOf(schema);
  const args = {
    to: ['a@b.de', 'c@d.fr'],
    amount: 1.5,
    how: 'post',
    from: { name: 'Ada' },
    more: { x: 1 },
  };
  expect(form.parts.map(({ kind }) => kind)).toEqual([
    'list',
    'number',
    'boolean',
    'choice',
    'heading',
    'text',
    'text',
    'json',
  ]);
  expect(checkForm(form, firstTyped(form, args))).toEqual({ isWhole: true, value: args });
});

test('names of members are only names', () => {
  const form = formOf(JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'));
  const check = checkForm(form, new Map([[keyOf({ path: ['__proto__'] }), 'x']]));
  expect(JSON.stringify(check)).toBe('{"isWhole":true,"value":{"__proto__":"x"}}');
});

const scalar = fc.oneof(
  fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'boolean') }),
  fc.record({ enum: fc.uniqueArray(fc.constantFrom('a', 'b', 1, 2, true), { minLength: 1 }) }),
  fc.record({
    type: fc.constant('array'),
    items: fc.record({ type: fc.constantFrom('string', 'integer') }),
  }),
);
const schemas = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    scalar as fc.Arbitrary<JsonObject>,
    fc
      .tuple(fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema')), fc.boolean())
      .map(([properties, all]) => object(properties, all ? Object.keys(properties) : [])),
  ),
})).schema;

/** A value that a schema takes. */
function takenBy(schema: JsonObject): JsonValue {
  const { type, enum: listed, properties, items } = schema;
  if (Array.isArray(listed)) return listed.at(-1) ?? null;
  if (type === 'object') {
    const members = Object.entries(properties as Record<string, JsonObject>);
    return Object.fromEntries(members.map(([name, member]) => [name, takenBy(member)]));
  }
  if (type === 'array') return [takenBy(items as JsonObject)];
  return { string: 'text', number: 1.5, integer: 7 }[type as string] ?? true;
}

test('whatever the schema, a form filled with a value gives that value', () => {
  fc.assert(
    fc.property(schemas, (schema) => {
      const form = formOf(schema);
      const given = takenBy(schema);
      const check = checkForm(form, firstTyped(form, given));
      expect(check.isWhole).toBe(true);
      // Optional objects without members are left out.
      if (!JSON.stringify(given).includes('{}'))
        expect(check).toEqual({ isWhole: true, value: given });
    }),
    { numRuns: 300 },
  );
});
