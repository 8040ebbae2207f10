import { PassThrough } from 'node:stream';
import type { ToolResult } from 'adjutant';
import { expect, test } from 'vitest';
import { styleFor } from '../../src/output/style.ts';
import { describeCall, toolLine } from '../../src/output/tool-line.ts';

const style = styleFor(new PassThrough());

/** Text of the result in the line of a call. */
function told(result: ToolResult): string | undefined {
  return toolLine(style, { name: 'look', args: {} }, result, undefined).split('\n  → ')[1];
}

test('a call is its name and its arguments, shortened, on one line', () => {
  expect(describeCall('currentTime', {})).toBe('currentTime');
  expect(describeCall('readFile', { path: 'a\nb\x1b[2J.txt' })).toBe(
    String.raw`readFile {"path":"a\nb\u001b[2J.txt"}`,
  );
  expect(describeCall('note', { text: 'x'.repeat(500) }).length).toBeLessThan(120);
});

test('a result shows its small values and only the size of its large ones', () => {
  const rows = Array.from({ length: 20 }, (_, id) => ({ id }));
  expect(told({ status: 'success', content: { rows, matched: 20, names: ['a'] } })).toBe(
    'rows: 20 items, matched: 20, names: ["a"]',
  );
  expect(told({ status: 'success', content: 'two\nlines' })).toBe('two lines');
  expect(told({ status: 'success', content: null })).toBe('null');
  expect(told({ status: 'error_permanent', content: 'There is no such file.' })).toBe(
    'error_permanent: There is no such file.',
  );
  expect(told({ status: 'timeout', content: '' })).toBe('timeout');
});
