import { expect, test } from 'vitest';
import { formatCost, formatCount, formatDuration, shorten } from '../../src/output/format.ts';
import { tableLines } from '../../src/output/table.ts';

test.each([
  [0, '0 ms'],
  [12.4, '12 ms'],
  [999.4, '999 ms'],
  [999.6, '1.0 s'],
  [59_949, '59.9 s'],
  [59_951, '1 min 00 s'],
  [125_000, '2 min 05 s'],
])('%f ms is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [0, '$0'],
  [0.001234, '$0.0012'],
  [0.05, '$0.05'],
  [0.125, '$0.13'],
  [12, '$12.00'],
])('%f dollars are %s', (dollars, text) => {
  expect(formatCost(dollars)).toBe(text);
});

test('counts have their noun in the right number', () => {
  expect([0, 1, 1_234].map((count) => formatCount(count, 'round'))).toEqual([
    '0 rounds',
    '1 round',
    '1,234 rounds',
  ]);
});

test('a shortened text is no longer than asked for and never half a symbol', () => {
  expect(shorten('abcdef', 6)).toBe('abcdef');
  expect(shorten('abcdefg', 6)).toBe('abcde…');
  expect(shorten('ab👩cdef', 4)).toBe('ab…');
});

test('columns of a table are as wide as their widest cell', () => {
  const lines = tableLines(
    ['NAME', 'COUNT', 'TITLE'],
    [
      ['long name', '7', 'a'],
      ['b', '12345', ''],
    ],
    { right: [1] },
  );
  expect(lines).toEqual(['NAME       COUNT  TITLE', 'long name      7  a', 'b          12345']);
});
