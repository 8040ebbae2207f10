import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJson } from './json-text.ts';

const wanted = { name: 'Ann', tags: ['a', 'b'] };

describe('findJson', () => {
  test.each([
    ['the text itself', '{"name": "Ann", "tags": ["a", "b"]}'],
    ['a fence', 'Here it is:\n```json\n{"name": "Ann", "tags": ["a", "b"]}\n```\nGood?'],
    ['a fence without a language', '```\n{"name": "Ann", "tags": ["a", "b"]}\n```'],
    ['a fence that is not closed', '```json\n{"name": "Ann", "tags": ["a", "b"]}'],
    [
      'prose around it',
      'The answer [as you asked] is {"name": "Ann", "tags": ["a", "b"]}, I think {really}.',
    ],
    ['single quotes', "{'name': 'Ann', 'tags': ['a', 'b']}"],
    ['typographic quotes', '{“name”: “Ann”, “tags”: [“a”, “b”]}'],
    ['names without quotes', '{name: "Ann", tags: ["a", "b"]}'],
    ['trailing commas', '{"name": "Ann", "tags": ["a", "b",],}'],
    ['comments', '{"name": "Ann", /* who */ "tags": ["a", "b"] // which\n}'],
    ['a missing end', '{"name": "Ann", "tags": ["a", "b"'],
    [
      'broken JSON in a fence',
      "Sure:\n```json\n{'name': 'Ann', 'tags': ['a', 'b'],}\n```\nThat is {all}.",
    ],
    ['broken JSON with prose behind it', "{'name': 'Ann', 'tags': ['a', 'b']} is the answer."],
  ])('%s', async (_what, text) => {
    expect(await findJson(text)).toEqual(wanted);
  });

  test.each([
    ['a number', '42', 42],
    ['a string', '"x"', 'x'],
    ['null', ' null ', null],
    ['a list', 'It is [1, 2].', [1, 2]],
    ['brackets in strings', 'So: {"text": "a } b ] \\" c"} end', { text: 'a } b ] " c' }],
  ])('%s', async (_what, text, expected) => {
    expect(await findJson(text)).toEqual(expected);
  });

  test.each([
    [''],
    ['  '],
    ['no JSON here'],
    ['Ann said: "yes"'],
    ['12 apples'],
    ['x'.repeat(600_000)],
  ])('nothing in %#', async (text) => {
    expect(await findJson(text)).toBeUndefined();
  });

  test('finds any value between words', async () => {
    const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));
    const words = fc.stringMatching(/^[a-z .,]{0,20}$/);
    await fc.assert(
      fc.asyncProperty(words, value, words, async (before, inside, after) => {
        const plain = JSON.parse(JSON.stringify(inside));
        expect(await findJson(`${before}${JSON.stringify(plain)}${after}`)).toEqual(plain);
      }),
    );
  });

  test('hostile texts give nothing, soon and without an error', async () => {
    for (const text of [
      '['.repeat(200_000),
      '{"a":'.repeat(50_000),
      '{{}'.repeat(50_000),
      '`'.repeat(100_000),
      `${'[ '.repeat(1_000)}${'] '.repeat(999)}`,
    ]) {
      const found = await findJson(text);
      expect(found === undefined || typeof found === 'object').toBe(true);
    }
  });
});

test('what is too long to be repaired soon is not repaired', async () => {
  expect(await findJson(`[${'"a" '.repeat(10)}]`)).toEqual(Array.from({ length: 10 }, () => 'a'));
  expect(await findJson(`[${'"a" '.repeat(100_000)}]`)).toBeUndefined();
  expect(await findJson(`[${'"a",'.repeat(100_000)}"a"]`)).toHaveLength(100_001);
});

test.each(["{'a': 1}", '{"a": 1'])('the library for repairs is loaded for %s', async (text) => {
  // As a separate program, whose list of modules is not mixed with that of the test runner.
  const source = JSON.stringify(new URL('./json-text.ts', import.meta.url).href);
  const program = `
    import { registerHooks } from 'node:module';
    const asked = [];
    registerHooks({
      resolve(name, context, next) { asked.push(name); return next(name, context); },
    });
    const { findJson } = await import(${source});
    const found = await findJson('x {"a": 1} y');
    const before = asked.includes('jsonrepair');
    const repaired = await findJson(${JSON.stringify(text)});
    console.log(JSON.stringify([found, before, repaired, asked.includes('jsonrepair')]));`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    program,
  ]);
  expect(JSON.parse(stdout)).toEqual([{ a: 1 }, false, { a: 1 }, true]);
});
