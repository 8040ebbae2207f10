import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { MissingPackageError } from '../base/optional-package.ts';
import { classifyThrown } from './classify.ts';
import { ToolFailure, type ToolFailureOptions } from './errors.ts';

const withMembers = (message: string, members: object) =>
  Object.assign(new Error(message), members);
const thrownBy = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

describe('classifyThrown', () => {
  test.each([
    [400, 'error_permanent', 'none'],
    [401, 'error_blocked', 'none'],
    [403, 'error_blocked', 'none'],
    [404, 'error_permanent', 'none'],
    [408, 'error_transient', 'unknown'],
    [409, 'error_permanent', 'unknown'],
    [410, 'error_permanent', 'none'],
    [422, 'error_permanent', 'none'],
    [429, 'error_transient', 'none'],
    [451, 'error_blocked', 'none'],
    [500, 'error_transient', 'unknown'],
    [502, 'error_transient', 'unknown'],
    [503, 'error_transient', 'unknown'],
    [504, 'error_transient', 'unknown'],
  ] as const)(
    'HTTP %i is %s with effect %s, wherever the status stands',
    (status, expected, effect) => {
      for (const members of [
        { status },
        { statusCode: status },
        { response: { status } },
        { cause: { status } },
      ]) {
        const found = classifyThrown(withMembers('refused', members));
        expect(found).toMatchObject({
          effect,
          result: {
            status: expected,
            errorType: `http_${status}`,
            content: `HTTP ${status}: refused`,
          },
        });
      }
    },
  );

  test.each([
    ['ECONNREFUSED', 'error_transient', 'connection_refused', 'none'],
    ['ENOTFOUND', 'error_permanent', 'host_not_found', 'none'],
    ['EAI_AGAIN', 'error_transient', 'host_not_found', 'none'],
    ['ECONNRESET', 'error_transient', 'connection_lost', 'unknown'],
    ['EPIPE', 'error_transient', 'connection_lost', 'unknown'],
    ['UND_ERR_SOCKET', 'error_transient', 'connection_lost', 'unknown'],
    ['EHOSTUNREACH', 'error_transient', 'host_unreachable', 'unknown'],
    ['ETIMEDOUT', 'timeout', 'timeout', 'unknown'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout', 'timeout', 'unknown'],
    ['UND_ERR_HEADERS_TIMEOUT', 'timeout', 'timeout', 'unknown'],
    ['UND_ERR_BODY_TIMEOUT', 'timeout', 'timeout', 'unknown'],
    ['UND_ERR_SOMETHING_NEW', 'error_transient', 'network_error', 'unknown'],
    ['UND_ERR_INVALID_ARG', 'error_permanent', 'tool_error', 'none'],
    ['CERT_HAS_EXPIRED', 'error_permanent', 'tls_error', 'none'],
    ['ENOENT', 'error_permanent', 'file_not_found', 'none'],
    ['EACCES', 'error_permanent', 'permission_denied', 'none'],
    ['EISDIR', 'error_permanent', 'file_system_error', 'none'],
    ['EMFILE', 'error_transient', 'resource_busy', 'none'],
    ['ENOSPC', 'error_permanent', 'file_system_error', 'unknown'],
    ['P2002', 'error_permanent', 'tool_error', 'none'],
  ] as const)('system code %s is %s', (code, status, errorType, effect) => {
    expect(classifyThrown(withMembers('it failed', { code }))).toMatchObject({
      effect,
      result: { status, errorType, content: 'it failed' },
    });
    expect(
      classifyThrown(new TypeError('wrapped', { cause: withMembers('it failed', { code }) })),
    ).toMatchObject({
      effect,
      result: { status, errorType },
    });
  });

  test('a host that cannot be reached has seen nothing when connecting failed', () => {
    expect(
      classifyThrown(withMembers('no route', { code: 'EHOSTUNREACH', syscall: 'connect' })).effect,
    ).toBe('none');
  });

  const jsonError = thrownBy(() => JSON.parse('<html>'));
  const zodError = thrownBy(() => z.object({ a: z.string() }).parse({}));
  test.each<[string, unknown, string, string, string]>([
    ['abort', AbortSignal.abort().reason, 'unknown', 'aborted', 'unknown'],
    ['timeout', new DOMException('late', 'TimeoutError'), 'timeout', 'timeout', 'unknown'],
    ['JSON', jsonError, 'error_permanent', 'parse_error', 'unknown'],
    [
      'JSON as a cause',
      new Error('bad answer', { cause: jsonError }),
      'error_permanent',
      'parse_error',
      'unknown',
    ],
    [
      'other syntax error',
      new SyntaxError('Unexpected token'),
      'error_permanent',
      'tool_error',
      'none',
    ],
    ['validation', zodError, 'error_permanent', 'validation_error', 'none'],
    [
      'fetch without a cause',
      new TypeError('fetch failed'),
      'error_transient',
      'network_error',
      'unknown',
    ],
    ['plain error', new Error('no such order'), 'error_permanent', 'tool_error', 'none'],
    ['type error', new TypeError('x is undefined'), 'error_permanent', 'tool_error', 'none'],
    [
      'ours',
      new MissingPackageError({ package: 'p', needed: 'It' }),
      'error_permanent',
      'missing_package',
      'none',
    ],
    [
      'status outside errors',
      withMembers('odd', { status: 200 }),
      'error_permanent',
      'tool_error',
      'none',
    ],
    [
      'status as text',
      withMembers('odd', { status: 'failed' }),
      'error_permanent',
      'tool_error',
      'none',
    ],
    [
      'thrown response-like object',
      { status: 404, message: 'gone' },
      'error_permanent',
      'http_404',
      'none',
    ],
    [
      'bundle of refusals',
      new AggregateError([withMembers('a', { code: 'ECONNREFUSED' })]),
      'error_transient',
      'connection_refused',
      'none',
    ],
    [
      'bundle in which one is open',
      new AggregateError([
        withMembers('a', { code: 'ECONNREFUSED' }),
        withMembers('b', { code: 'ECONNRESET' }),
      ]),
      'error_transient',
      'connection_lost',
      'unknown',
    ],
  ])('%s', (_, thrown, status, errorType, effect) => {
    expect(classifyThrown(thrown)).toMatchObject({ effect, result: { status, errorType } });
  });

  test.each<[string, unknown, string]>([
    ['string', 'just text', 'just text'],
    ['empty string', '', 'The tool threw an empty string.'],
    ['undefined', undefined, 'undefined'],
    ['number', 42, '42'],
    ['symbol', Symbol('s'), 'Symbol(s)'],
    ['object', { reason: 'x' }, 'The tool threw a value that is not an Error: {"reason":"x"}'],
    ['error without message', new RangeError(), 'The tool failed with RangeError and no message.'],
  ])('what is thrown need not be an Error: %s', (_, thrown, content) => {
    expect(classifyThrown(thrown)).toMatchObject({
      effect: 'none',
      result: { status: 'error_permanent', errorType: 'tool_error', content },
    });
  });

  test('hostile values are survived', () => {
    const hostile = {
      get status(): number {
        throw new Error('never look');
      },
    };
    expect(classifyThrown(hostile)).toMatchObject({
      effect: 'none',
      result: { errorType: 'tool_error' },
    });
    const own = new Error('its own cause');
    own.cause = own;
    expect(classifyThrown(own).result.content).toBe('its own cause');
  });

  test.each<[ToolFailureOptions, string, string]>([
    [{}, 'error_permanent', 'none'],
    [{ effect: 'unknown' }, 'unknown', 'unknown'],
    [{ retryAfterMs: 5 }, 'error_transient', 'none'],
    [{ errorType: 'http_403' }, 'error_blocked', 'none'],
    [{ errorType: 'http_500' }, 'error_transient', 'none'],
    [{ errorType: 'timeout' }, 'timeout', 'none'],
    [{ errorType: 'ssrf_blocked', status: 'error_blocked' }, 'error_blocked', 'none'],
  ])('a ToolFailure says itself what it means: %j', (options, status, effect) => {
    const found = classifyThrown(new ToolFailure('The order is closed.', options));
    expect(found).toMatchObject({
      effect,
      result: {
        status,
        content: 'The order is closed.',
        errorType: options.errorType ?? 'tool_error',
      },
    });
    expect(found.retryAfterMs).toBe(options.retryAfterMs);
  });

  test(
    'alternatives and data of a ToolFailure reach the result, also when they are not what ' +
      'the types say',
    () => {
      const failure = new ToolFailure('no', {
        alternatives: ['Search first.'],
        data: { column: 'a' },
        cause: new Error('deeper'),
      });
      expect(classifyThrown(failure).result).toMatchObject({
        alternatives: ['Search first.'],
        metadata: { column: 'a' },
        detail: expect.stringContaining('deeper'),
      });
      const odd = new ToolFailure('no', { data: { big: 1n } as never });
      expect(classifyThrown(odd).result).toMatchObject({
        status: 'error_permanent',
        metadata: { big: expect.any(String) },
      });
    },
  );

  const now = Date.UTC(2026, 0, 1, 12, 0, 0);
  test.each<[object, number | undefined]>([
    [{ headers: { 'Retry-After': '7' } }, 7_000],
    [{ responseHeaders: { 'retry-after': '0.5' } }, 500],
    [
      {
        response: {
          status: 429,
          headers: new Headers({ 'retry-after': 'Thu, 01 Jan 2026 12:00:30 GMT' }),
        },
      },
      30_000,
    ],
    [{ headers: { 'retry-after': 'Thu, 01 Jan 2026 11:00:00 GMT' } }, 0],
    [{ headers: { 'retry-after': 'soon' } }, undefined],
    [{ retryAfterMs: 12 }, 12],
    [{}, undefined],
  ])('Retry-After of %j', (members, expected) => {
    expect(
      classifyThrown(withMembers('slow down', { status: 429, ...members }), now).retryAfterMs,
    ).toBe(expected);
  });

  test(
    'long messages are shortened; detail names the causes and, for unknown kinds, ' + 'the place',
    () => {
      expect(String(classifyThrown(new Error('x'.repeat(5_000))).result.content)).toHaveLength(
        2_001,
      );
      const { detail } = classifyThrown(
        new Error('outer', { cause: withMembers('inner', { code: 'X1' }) }),
      ).result;
      expect(detail).toContain('Error: outer\ncaused by Error [X1]: inner');
      expect(detail).toContain('classify.test.ts');
    },
  );

  test("errors of Node's own fetch: refused and lost connections", async () => {
    const server = createServer((request) => request.socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const lost: unknown = await fetch(url).catch((error: unknown) => error);
    expect(classifyThrown(lost)).toMatchObject({
      effect: 'unknown',
      result: { errorType: 'connection_lost' },
    });
    await new Promise((resolve) => server.close(resolve));
    const refused: unknown = await fetch(url).catch((error: unknown) => error);
    expect(classifyThrown(refused)).toMatchObject({
      effect: 'none',
      result: { errorType: 'connection_refused' },
    });
  });
});
