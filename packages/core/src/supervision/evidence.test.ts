import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../ledger/tool-result.ts';
import { argsKey, type CallEvidence, failuresInARow, isEvidence } from './evidence.ts';

const call = { name: 'fetch', args: { url: 'a' } };

function settled(errorType: string | undefined, more: Partial<CallEvidence> = {}): CallEvidence {
  const result: ToolResult =
    errorType === undefined
      ? { status: 'success', content: 'yes' }
      : { status: 'error_permanent', content: 'no', errorType };
  return { ...call, result, turn: 1, ...more };
}

describe('failuresInARow', () => {
  const cases: readonly (readonly [string, readonly CallEvidence[], string, number])[] = [
    ['nothing yet', [], 'http_403', 0],
    ['one', [settled('http_403')], 'http_403', 1],
    ['two', [settled('http_403'), settled('http_403')], 'http_403', 2],
    [
      'a success in between',
      [settled('http_403'), settled(undefined), settled('http_403')],
      'http_403',
      1,
    ],
    [
      'another error in between',
      [settled('http_403'), settled('timeout'), settled('http_403')],
      'http_403',
      1,
    ],
    [
      'another call in between',
      [settled('http_403'), settled(undefined, { args: { url: 'b' } }), settled('http_403')],
      'http_403',
      2,
    ],
    [
      'another tool in between',
      [settled('http_403'), settled(undefined, { name: 'read' }), settled('http_403')],
      'http_403',
      2,
    ],
    [
      'a refusal by a person in between',
      [settled('http_403'), settled('rejected'), settled('http_403')],
      'http_403',
      2,
    ],
    ['other arguments', [settled('http_403', { args: { url: 'b' } })], 'http_403', 0],
    [
      'a tool that does not exist, whatever its arguments',
      [settled('unknown_tool', { args: 1 }), settled('unknown_tool')],
      'unknown_tool',
      2,
    ],
    [
      'an error without a type',
      [settled('x', { result: { status: 'timeout', content: 'late' } })],
      'timeout',
      1,
    ],
    [
      'a doubted success',
      [settled('x', { result: { status: 'partial', content: [], errorType: 'empty_result' } })],
      'empty_result',
      1,
    ],
  ];
  it.each(cases)('%s', (_name, evidence, errorType, expected) => {
    expect(failuresInARow(evidence, call, errorType)).toBe(expected);
  });
});

describe('isEvidence', () => {
  it.each([
    [{ status: 'error_blocked', content: '', errorType: 'rejected' }, false],
    [{ status: 'error_blocked', content: '', errorType: 'expired' }, false],
    [{ status: 'error_blocked', content: '', errorType: 'cancelled' }, false],
    [{ status: 'unknown', content: '' }, false],
    [{ status: 'error_permanent', content: '', errorType: 'unknown_unresolved' }, false],
    [{ status: 'error_permanent', content: '', errorType: 'interrupted' }, false],
    [{ status: 'error_blocked', content: '', errorType: 'loop_blocked' }, false],
    // A tool may use the word for something of its own.
    [{ status: 'error_permanent', content: '', errorType: 'loop_blocked' }, true],
    [{ status: 'error_blocked', content: '', errorType: 'ssrf_blocked' }, true],
    [{ status: 'timeout', content: '' }, true],
    [{ status: 'success', content: '' }, true],
  ] as const)('%j: %s', (result, expected) => {
    expect(isEvidence({ ...call, result, turn: 0 })).toBe(expected);
  });
});

describe('argsKey', () => {
  it('does not depend on the order of members, and is short', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), (args) => {
        const turned = Object.fromEntries(Object.entries(args).reverse());
        expect(argsKey(turned as never)).toBe(argsKey(args as never));
      }),
    );
    expect(argsKey({ text: 'x'.repeat(100_000) })).toHaveLength(64);
    expect(argsKey({ text: 'x'.repeat(100_000) })).not.toBe(
      argsKey({ text: `${'x'.repeat(99_999)}y` }),
    );
  });
});
