import { expect, test } from 'vitest';
import { describeCall, describeResult } from '../../src/output/tool-line.ts';

test('a call is its name and its arguments, shortened, on one line', () => {
  expect(describeCall('currentTime', {})).toBe('currentTime');
  expect(describeCall('readFile', { path: 'a\nb\x1b[2J.txt' })).toBe(
    String.raw`readFile {"path":"a\nb\u001b[2J.txt"}`,
  );
  expect(describeCall('note', { text: 'x'.repeat(500) }).length).toBeLessThan(120);
});

test('a result shows its small values and only the size of its large ones', () => {
  const rows = Array.from({ length: 20 }, (_, id) => ({ id }));
  expect(describeResult({ status: 'success', content: { rows, matched: 20, names: ['a'] } })).toBe(
    'rows: 20 items, matched: 20, names: ["a"]',
  );
  expect(describeResult({ status: 'success', content: 'two\nlines' })).toBe('two lines');
  expect(describeResult({ status: 'success', content: null })).toBe('null');
  expect(describeResult({ status: 'error_permanent', content: 'There is no such file.' })).toBe(
    'error_permanent: There is no such file.',
  );
  expect(describeResult({ status: 'timeout', content: '' })).toBe('timeout');
});
