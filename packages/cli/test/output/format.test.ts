import { expect, test } from 'vitest';
import {
  formatCost,
  formatCount,
  formatDuration,
  formatMoment,
  formatSize,
  formatTokens,
  shorten,
} from '../../src/output/format.ts';
import { tableLines } from '../../src/output/table.ts';

test.each([
  [0, '0 ms'],
  [12.4, '12 ms'],
  [999.4, '999 ms'],
  [999.6, '1.0 s'],
  [59_949, '59.9 s'],
  [59_951, '1 min 00 s'],
  [125_000, '2 min 05 s'],
  [3_599_400, '59 min 59 s'],
  [3_599_600, '1 h 00'],
  [7_500_000, '2 h 05'],
])('%f ms is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [undefined, '$?'],
  [0, '$0.00'],
  [0.001234, '$0.0012'],
  [0.05, '$0.05'],
  [0.125, '$0.13'],
  [12, '$12.00'],
])('%s dollars are %s', (dollars, text) => {
  expect(formatCost(dollars)).toBe(text);
});

test.each([
  [812, '812'],
  [1_000, '1k'],
  [12_400, '12.4k'],
  [99_951, '100k'],
  [999_499, '999k'],
  [999_500, '1M'],
  [1_234_567, '1.2M'],
])('%i tokens are %s', (count, text) => {
  expect(formatTokens(count)).toBe(text);
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [4_096, '4.1 kB'],
  [41_300, '41 kB'],
  [999_600, '1.0 MB'],
  [2_500_000_000, '2.5 GB'],
])('%i bytes are %s', (bytes, text) => {
  expect(formatSize(bytes)).toBe(text);
});

test('times of today are to the second, others have their day', () => {
  const now = new Date(2026, 10, 23, 22, 0).getTime();
  expect(formatMoment(new Date(2026, 10, 23, 21, 13, 2).getTime(), now)).toBe('21:13:02');
  expect(formatMoment(new Date(2026, 10, 22, 21, 14, 59).getTime(), now)).toBe('22 Nov 21:14');
  expect(formatMoment(new Date(2025, 10, 23, 21, 13, 2).getTime(), now)).toBe('23 Nov 2025');
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
