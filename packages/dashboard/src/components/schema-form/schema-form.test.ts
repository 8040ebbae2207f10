import { expect, test } from 'vitest';
import { changesOf, textChange } from './changes.ts';
import { jsonOf, numberOf, textOf, withMember } from './drafts.ts';
import { blankOf, noteOf, problemsOf, shapeOf, Unfinished } from './shapes.ts';

const schema = {
  type: 'object',
  properties: {
    to: { type: 'string', format: 'email', maxLength: 20 },
    cents: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    kind: { enum: ['letter', 'note'] },
    urgent: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    copies: { type: 'array', items: { type: 'object', properties: { to: { type: 'string' } } } },
    choice: { anyOf: [{ type: 'string' }, { type: 'number' }] },
  },
  required: ['to', 'cents', 'kind', 'tags'],
};
const { properties } = schema;

test('Each part of a schema has the field that fits it; what has none is JSON', () => {
  const kinds = Object.entries(properties).map(([name, part]) => [
    name,
    shapeOf(part, undefined).kind,
  ]);
  expect(Object.fromEntries(kinds)).toEqual({
    to: 'text',
    cents: 'number',
    kind: 'choice',
    urgent: 'boolean',
    tags: 'list',
    copies: 'list',
    choice: 'json',
  });
  expect(shapeOf(true, 1).kind).toBe('json');
  expect(shapeOf({ $ref: '#/x' }, {}).kind).toBe('json');
});

test('A value that does not fit its schema is edited as JSON, and lost in no form', () => {
  expect(shapeOf(properties.to, 7).kind).toBe('json');
  expect(shapeOf(properties.kind, 'card').kind).toBe('json');
  expect(shapeOf(properties.tags, 'a').kind).toBe('json');
  const shape = shapeOf(schema, { to: 'a', more: 1 });
  expect(shape.kind === 'object' && shape.members.map(({ name }) => name)).toContain('more');
});

test('The note of a field says what it takes', () => {
  expect(noteOf(properties.to)).toBe('string, email, ≤ 20');
  expect(noteOf(properties.cents)).toBe('integer, ≥ 1');
  expect(noteOf(properties.kind)).toBe('choice');
  expect(noteOf({})).toBe('JSON');
});

test('A new value has what can be known: the rest has to be written', () => {
  expect(blankOf(schema)).toEqual({ to: '', tags: [] });
  expect(blankOf({ const: 'only' })).toBe('only');
  expect(blankOf({ type: 'number' })).toBeUndefined();
});

test('Problems name their place', () => {
  const value = { to: 'x'.repeat(21), cents: 0, tags: ['a'], copies: [{ to: 'b' }] };
  expect(problemsOf(schema, value)).toEqual([
    { path: 'to', text: 'It has 21 characters of 20.' },
    { path: 'cents', text: 'It is at least 1.' },
    { path: 'kind', text: 'It is needed.' },
  ]);
  const nested = { type: 'object', properties: { list: { type: 'array', items: schema } } };
  const item = { to: 'a', cents: new Unfinished('1e', 'It is a number.'), kind: 'note', tags: [] };
  expect(problemsOf(nested, { list: [item] })).toEqual([
    { path: 'list[0].cents', text: 'It is a number.' },
  ]);
});

test('Text of numbers and of JSON is kept while it is no value yet', () => {
  expect(numberOf('12', true)).toBe(12);
  expect(numberOf(' -1.5 ', false)).toBe(-1.5);
  expect(numberOf('1.5', true)).toBeInstanceOf(Unfinished);
  expect(numberOf('', false)).toBeInstanceOf(Unfinished);
  expect(jsonOf('{"a":[1]}')).toEqual({ a: [1] });
  const unfinished = jsonOf('{"a":');
  expect(unfinished).toBeInstanceOf(Unfinished);
  expect(textOf(unfinished)).toBe('{"a":');
});

test('A member is set, or taken away', () => {
  expect(withMember({ a: 1 }, 'b', 2)).toEqual({ a: 1, b: 2 });
  expect(withMember({ a: 1, b: 2 }, 'a', undefined)).toEqual({ b: 2 });
  expect(withMember(undefined, '__proto__', 1)).toEqual(JSON.parse('{"__proto__":1}'));
});

test('Changes of an edit are found part by part', () => {
  const before = { to: 'a', tags: ['x', 'y'], headers: { replyTo: 'm' }, same: { deep: [1] } };
  const after = { to: 'b', tags: ['x', 'z'], headers: { bcc: 'n' }, same: { deep: [1] } };
  expect(changesOf(before, after)).toEqual([
    { path: 'to', before: 'a', after: 'b' },
    { path: 'tags[1]', before: 'y', after: 'z' },
    { path: 'headers.replyTo', before: 'm' },
    { path: 'headers.bcc', after: 'n' },
  ]);
  expect(changesOf({ tags: ['x'] }, { tags: [] })).toEqual([
    { path: 'tags', before: ['x'], after: [] },
  ]);
  expect(changesOf(before, structuredClone(before))).toEqual([]);
});

test('A changed text shows the words between what stayed', () => {
  expect(textChange('I call on Tuesday at ten.', 'I ring on Monday at ten.')).toEqual({
    start: 'I ',
    removed: 'call on Tuesday',
    added: 'ring on Monday',
    end: ' at ten.',
  });
  expect(textChange('same', 'same')).toEqual({ start: 'same', removed: '', added: '', end: '' });
  expect(textChange('', 'new')).toEqual({ start: '', removed: '', added: 'new', end: '' });
});
