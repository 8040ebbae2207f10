import { matchesGlob } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pathMatcher } from './glob.ts';

test.each<[string, string, boolean]>([
  ['*.csv', 'a.csv', true],
  ['*.csv', 'deep/er/a.csv', true],
  ['*.csv', 'a.csv.txt', false],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['reports/*.csv', 'reports/a.csv', true],
  ['reports/*.csv', 'reports/old/a.csv', false],
  ['reports/*.csv', 'x/reports/a.csv', false],
  ['**/old/*', 'reports/old/b.csv', true],
  ['**/old/*', 'old/b.csv', true],
  ['reports/**/b.*', 'reports/b.csv', true],
  ['./reports/**', 'reports/x/y', true],
  ['*.{csv,txt}', 'x/a.txt', true],
  ['{a,b}/{c,d}.md', 'b/c.md', true],
  ['{a,b}/{c,d}.md', 'b/e.md', false],
  ['{x,{y,z}}.md', 'z.md', true],
  ['[id].tsx', '[id].tsx', true],
  ['a.c', 'abc', false],
  ['*', '', true],
  ['notes', 'notes', true],
])('%s on %s: %s', (pattern, path, expected) => {
  expect(pathMatcher(pattern)(path)).toBe(expected);
});

test('patterns that make regular expressions run for ever are answered', () => {
  expect(pathMatcher(`${'*a'.repeat(90)}b`)('a'.repeat(1_000))).toBe(false);
  expect(pathMatcher(`${'**/a/'.repeat(35)}b`)(Array(400).fill('a').join('/'))).toBe(false);
});

test.each([['x'.repeat(201)], ['{a,b}'.repeat(6)]])('refuses %s', (pattern) => {
  expect(() => pathMatcher(pattern)).toThrow(
    expect.objectContaining({ errorType: 'invalid_pattern' }),
  );
});

test("agrees with Node's own glob where both know the syntax", () => {
  const name = fc.stringMatching(/^[ab]{1,4}$/);
  const part = fc.stringMatching(/^[ab*?]{1,4}$/).filter((text) => !text.includes('**'));
  const pattern = fc
    .array(fc.oneof(part, fc.constant('**')), { minLength: 2, maxLength: 4 })
    .filter((parts) => parts.at(-1) !== '**');
  fc.assert(
    fc.property(pattern, fc.array(name, { minLength: 1, maxLength: 5 }), (parts, names) => {
      expect(pathMatcher(parts.join('/'))(names.join('/'))).toBe(
        matchesGlob(names.join('/'), parts.join('/')),
      );
    }),
    { numRuns: 2_000 },
  );
});
