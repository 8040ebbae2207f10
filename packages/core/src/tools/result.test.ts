import { describe, expect, test } from 'vitest';
import { toolResult, toToolResult } from './result.ts';

describe('toolResult', () => {
  test.each([
    ['success', 'success', undefined],
    ['partial', 'partial', undefined],
    ['transient', 'error_transient', 'tool_error'],
    ['permanent', 'error_permanent', 'tool_error'],
    ['blocked', 'error_blocked', 'blocked'],
    ['timeout', 'timeout', 'timeout'],
    ['unknown', 'unknown', 'unknown_outcome'],
  ] as const)('%s makes the status %s', (constructorName, status, errorType) => {
    const made = toolResult[constructorName]({ rows: 2 });
    expect(made).toEqual({ status, content: { rows: 2 }, ...(errorType && { errorType }) });
    expect(Object.isFrozen(made)).toBe(true);
  });

  test('keeps what it is told and leaves out what is undefined', () => {
    const details = {
      errorType: 'http_404',
      alternatives: ['search'],
      confidence: 0.4,
      metadata: { url: 'x' },
    };
    expect(toolResult.permanent('gone', details)).toEqual({
      status: 'error_permanent',
      content: 'gone',
      ...details,
    });
    expect(Object.keys(toolResult.success(1, { detail: undefined } as object))).toEqual([
      'status',
      'content',
    ]);
  });

  test('content and metadata become JSON, and it says where they were not', () => {
    const made = toolResult.success(
      { when: new Date(0), count: 10n, ok: true },
      { metadata: { size: 5n as unknown as number, kept: 1 } },
    );
    expect(made.content).toEqual({
      when: '1970-01-01T00:00:00.000Z',
      count: expect.any(String),
      ok: true,
    });
    expect(made.metadata).toEqual({
      size: expect.any(String),
      kept: 1,
      coerced: ['$.when', '$.count', '$metadata.size'],
    });
  });
});

describe('toToolResult', () => {
  test.each([
    ['text', 'done', 'done'],
    ['number', 3, 3],
    ['false', false, false],
    ['null', null, null],
    ['undefined', undefined, null],
    ['array', [1, undefined, 'x'], [1, null, 'x']],
    ['object', { a: 1, b: undefined }, { a: 1 }],
  ])('a plain %s is a success', (_, returned, content) => {
    expect(toToolResult(returned)).toEqual({ status: 'success', content });
  });

  const circular: Record<string, unknown> = { name: 'loop' };
  circular['self'] = circular;
  class Money {
    cents = 5;
  }
  test.each<[string, unknown, unknown, string[]]>([
    ['BigInt', 12n, expect.any(String), ['$']],
    ['Date', { at: new Date(1_000) }, { at: '1970-01-01T00:00:01.000Z' }, ['$.at']],
    ['cycle', circular, { name: 'loop', self: '[Circular]' }, ['$.self']],
    ['class instance', { price: new Money() }, { price: { cents: 5 } }, ['$.price']],
    ['function', [() => 1], [expect.any(String)], ['$[0]']],
    ['symbol', { s: Symbol('x') }, { s: 'Symbol(x)' }, ['$.s']],
    ['NaN', { n: Number.NaN }, { n: 'NaN' }, ['$.n']],
  ])('a value with a %s is replaced by a string form', (_, returned, content, coerced) => {
    expect(toToolResult(returned)).toEqual({ status: 'success', content, metadata: { coerced } });
  });

  test('values that throw when they are looked at, or are too deep, do not fail', () => {
    const hostile = {
      get secret(): string {
        throw new Error('do not look');
      },
    };
    expect(toToolResult(hostile)).toMatchObject({
      status: 'success',
      content: expect.stringContaining('do not look'),
      metadata: { coerced: ['$'] },
    });
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    expect(toToolResult(revoked.proxy)).toMatchObject({
      status: 'success',
      metadata: { coerced: ['$'] },
    });
    let deep: unknown = 1;
    for (let i = 0; i < 20_000; i++) deep = [deep];
    expect(toToolResult(deep)).toMatchObject({ status: 'success', metadata: { coerced: ['$'] } });
  });

  test('a result made by a constructor is kept as it is', () => {
    const made = toolResult.blocked('no');
    expect(toToolResult(made)).toBe(made);
  });

  test('an object of the shape of a result is one, of this or another copy of the package', () => {
    const given = {
      status: 'error_transient',
      content: 'busy',
      errorType: 'http_429',
      metadata: { wait: 1 },
      detail: undefined,
    };
    expect(toToolResult(given)).toEqual({
      status: 'error_transient',
      content: 'busy',
      errorType: 'http_429',
      metadata: { wait: 1 },
    });
    expect(toToolResult({ status: 'partial', content: 4n })).toEqual({
      status: 'partial',
      content: expect.any(String),
      metadata: { coerced: ['$'] },
    });
  });

  test.each([
    ['unknown status', { status: 'ok', content: 1 }],
    ['status of the prototype', { status: 'toString', content: 1 }],
    ['no content', { status: 'success' }],
    ['a member that results do not have', { status: 'success', content: 1, id: 7 }],
    ['a member of the wrong kind', { status: 'success', content: 1, confidence: 'high' }],
    ['confidence out of range', { status: 'success', content: 1, confidence: 7 }],
    ['an HTTP response', { status: 200, content: 'x' }],
  ])('data that only looks like a result is content: %s', (_, returned) => {
    expect(toToolResult(returned)).toEqual({ status: 'success', content: returned });
  });

  test('an inherited status does not make a result', () => {
    expect(toToolResult(Object.create({ status: 'error_blocked', content: 'x' })).status).toBe(
      'success',
    );
  });
});
