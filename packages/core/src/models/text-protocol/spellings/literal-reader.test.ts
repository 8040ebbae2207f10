import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LiteralOptions, LiteralReader } from './literal-reader.ts';
import { reading } from './read-problem.ts';

function read(text: string, options?: LiteralOptions) {
  const reader = new LiteralReader(text, 0, options);
  return reading(() => reader.value());
}

test('JSON is read as JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 1, '\t'), (value, space) => {
      const text = JSON.stringify(value, null, space);
      const read = reading(() => new LiteralReader(text).value());
      // Numbers that lose digits are refused.
      fc.pre(!('problem' in read && read.problem.includes('too many digits')));
      fc.pre(!text.includes('__proto__'));
      expect(read).toEqual({ value: JSON.parse(text) });
    }),
  );
});

describe('other spellings', () => {
  test.each<[string, unknown]>([
    ["{'a': 'it\\'s'}", { a: "it's" }],
    ['{a: 1, b: [true, False, None,],}', { a: 1, b: [true, false, null] }],
    ['{“a”: „b”}', { a: 'b' }],
    ['{"a": """b "c" d"""}', { a: 'b "c" d' }],
    ['{"a": 1 /* one */, // two\n "b": 2 # three\n}', { a: 1, b: 2 }],
    ['{"a": "x\ny"}', { a: 'x\ny' }],
    ['{"a": {"b": ["c"', { a: { b: ['c'] } }],
    ['{"my\\_tool": word}', { my_tool: 'word' }],
    ['[+1, -.5, 2., 1e3]', [1, -0.5, 2, 1000]],
  ])('%s', (text, value) => {
    expect(read(text)).toEqual({ value });
  });
});

describe('text that may mean two things is refused', () => {
  test.each<[string, string]>([
    ['{"a": "b', 'a string has no closing quote; it begins at character 7: "b'],
    ['{"a": 1', '"}" is missing at its end'],
    ['{"a": "b",', '"}" is missing at its end'],
    ['{"a": ', 'a value is missing at its end'],
    ['{', '"}" is missing at its end'],
    [
      '{"a": "b"]',
      'a comma or "}" was expected (a quote within a string is written as \\") at character 10: ]',
    ],
    ['{"a": 1 "b": 2}', 'a value was expected at character 7: 1 "b": 2}'],
    ['{"a": 1, "a": 2}', '"a" is given twice, again at character 10: "a": 2}'],
    ['{"a": 2 + 3}', 'a value was expected at character 7: 2 + 3}'],
    ['{"a": ...}', 'a value was expected at character 7: ...}'],
    ['{"a": 007}', 'a value was expected at character 7: 007}'],
    [
      '{"a": 12345678901234567890}',
      'the number has too many digits at character 7: 12345678901234567890}',
    ],
    [
      '{"a": "C:\\dir"}',
      'a backslash in a string must be written as \\\\, unlike at character 10: \\dir"}',
    ],
    ['{"a": two words}', 'a value was expected at character 7: two words}'],
    ['{"a" "b"}', 'a colon was expected behind "a" at character 6: "b"}'],
    ['{1: 2}', 'a name was expected at character 2: 1: 2}'],
    ['{"__proto__": {}}', 'a name was expected at character 2: "__proto__": {}}'],
    ['['.repeat(101), 'brackets are nested more than 100 deep at character 101: ['],
  ])('%s', (text, problem) => {
    expect(read(text)).toEqual({ problem });
  });

  test('and so are words where they are variables, and values that were cut off', () => {
    expect(read('{"a": b}', { words: false })).toHaveProperty('problem');
    expect(read('{"a": "b"', { isCut: true })).toHaveProperty('problem');
  });
});
