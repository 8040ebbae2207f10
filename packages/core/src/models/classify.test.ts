import {
  APICallError,
  JSONParseError,
  LoadAPIKeyError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { AbortReason } from '../base/cancel-scope.ts';
import { defined } from '../base/defined.ts';
import { MissingPackageError } from '../base/optional-package.ts';
import { classifyModelError } from './classify.ts';
import { MissingKeyError, ModelStreamError } from './errors.ts';
import { toModelError } from './model-error.ts';

function apiError(
  statusCode: number | undefined,
  options: {
    body?: string;
    headers?: Record<string, string>;
    message?: string;
    cause?: unknown;
  } = {},
) {
  return new APICallError({
    message: options.message ?? 'refused',
    url: 'https://api.example/v1',
    requestBodyValues: { messages: ['the secret prompt'] },
    ...defined({ statusCode, responseBody: options.body, responseHeaders: options.headers }),
    cause: options.cause,
  });
}

const systemError = (code: string) => Object.assign(new Error(code), { code });
const streamed = (cause: unknown) =>
  new ModelStreamError({ model: 'a:b', code: 'model_stream_error', detail: 'x' }, { cause });

describe('classifyModelError', () => {
  test.each([
    ['429', apiError(429), 'rate_limit', true],
    [
      'a spent quota',
      apiError(429, { body: '{"error":{"code":"insufficient_quota"}}' }),
      'rate_limit',
      false,
    ],
    ['500', apiError(500), 'server', true],
    ['502', apiError(502), 'server', true],
    ['503', apiError(503), 'overloaded', true],
    ['529', apiError(529), 'overloaded', true],
    ['504', apiError(504), 'timeout', true],
    ['408', apiError(408), 'timeout', true],
    ['401', apiError(401), 'auth', false],
    ['403', apiError(403), 'auth', false],
    ['404', apiError(404), 'model_not_found', false],
    ['400', apiError(400), 'invalid_request', false],
    ['422', apiError(422), 'invalid_request', false],
    [
      'a long prompt at OpenAI',
      apiError(400, { body: '{"error":{"code":"context_length_exceeded"}}' }),
      'context_overflow',
      false,
    ],
    [
      'a long prompt at Anthropic',
      apiError(400, { message: 'prompt is too long: 210000 tokens > 200000 maximum' }),
      'context_overflow',
      false,
    ],
    [
      'a long prompt at Gemini',
      apiError(400, { message: 'The input token count (1100000) exceeds the maximum' }),
      'context_overflow',
      false,
    ],
    ['413', apiError(413), 'context_overflow', false],
    [
      'Azure content filter',
      apiError(400, { body: '{"error":{"code":"content_filter"}}' }),
      'content_filter',
      false,
    ],
    [
      'a wrong key at Gemini',
      apiError(400, { body: '{"error":{"details":[{"reason":"API_KEY_INVALID"}]}}' }),
      'auth',
      false,
    ],
    [
      'a body that cannot be read',
      apiError(200, { cause: new JSONParseError({ text: '<html>', cause: undefined }) }),
      'malformed',
      true,
    ],
    [
      'no connection',
      apiError(undefined, { cause: systemError('ECONNREFUSED') }),
      'connection',
      true,
    ],
    [
      'fetch failed',
      new TypeError('fetch failed', { cause: systemError('ENOTFOUND') }),
      'connection',
      true,
    ],
    [
      'fetch timed out',
      new TypeError('fetch failed', { cause: systemError('UND_ERR_HEADERS_TIMEOUT') }),
      'timeout',
      true,
    ],
    [
      'a reset in mid-stream',
      new TypeError('terminated', { cause: systemError('UND_ERR_SOCKET') }),
      'connection',
      true,
    ],
    ['a bare system error', systemError('ECONNRESET'), 'connection', true],
    ['a timeout of ours', new AbortReason('timeout', 'too late'), 'timeout', true],
    ['a cancel of ours', new AbortReason('cancelled', 'enough'), 'aborted', false],
    [
      'a signal of time',
      AbortSignal.abort(new DOMException('late', 'TimeoutError')).reason,
      'timeout',
      true,
    ],
    ['a plain abort', AbortSignal.abort().reason, 'aborted', false],
    ['broken JSON', new JSONParseError({ text: '{', cause: undefined }), 'malformed', true],
    [
      'an unsupported function',
      new UnsupportedFunctionalityError({ functionality: 'x' }),
      'invalid_request',
      false,
    ],
    ['a key that the AI SDK misses', new LoadAPIKeyError({ message: 'x' }), 'missing_key', false],
    [
      'a key that we miss',
      new MissingKeyError({ model: 'a', variables: ['K'] }),
      'missing_key',
      false,
    ],
    [
      'a missing package',
      new MissingPackageError({ package: 'p', needed: 'x' }),
      'missing_package',
      false,
    ],
    [
      'a cut stream',
      new ModelStreamError({ model: 'a', code: 'model_stream_cut', detail: '' }),
      'connection',
      true,
    ],
    [
      'a streamed overload',
      streamed({ type: 'overloaded_error', message: 'Overloaded' }),
      'overloaded',
      true,
    ],
    [
      'a streamed rate limit',
      streamed({ code: 'rate_limit_exceeded', message: 'slow down' }),
      'rate_limit',
      true,
    ],
    ['a streamed status', streamed({ message: 'x', statusCode: 500 }), 'server', true],
    [
      'a streamed refusal',
      streamed({ type: 'invalid_request_error', message: 'no' }),
      'invalid_request',
      false,
    ],
    ['a streamed riddle', streamed({ what: 1 }), 'server', true],
    [
      'the retry error of the AI SDK',
      { name: 'AI_RetryError', lastError: apiError(429) },
      'rate_limit',
      true,
    ],
    ['a text', 'model is overloaded', 'overloaded', true],
    ['anything', new Error('boom'), 'unknown', false],
    ['nothing', undefined, 'unknown', false],
  ] as const)('%s', (_, error, kind, retryable) => {
    expect(classifyModelError(error)).toMatchObject({ kind, retryable });
  });

  test.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '1234', 'retry-after': '9' }, 1_234],
    [
      { 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' },
      30_000,
    ],
    [{ 'retry-after': 'Sat, 21 Nov 2020 10:00:00 GMT' }, 0],
    [{ 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT' }, 20_000],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('waits as long as %o says', (headers, expected) => {
    const now = Date.UTC(2026, 10, 21, 10, 0, 10);
    expect(
      classifyModelError(apiError(429, { headers: headers as Record<string, string> }), now)
        .retryAfterMs,
    ).toBe(expected);
    expect(
      classifyModelError(apiError(503, { headers: headers as Record<string, string> }), now)
        .retryAfterMs,
    ).toBe(expected);
    expect(
      classifyModelError(apiError(401, { headers: headers as Record<string, string> }))
        .retryAfterMs,
    ).toBeUndefined();
  });

  test('reads the delay that Gemini puts into the body', () => {
    const body =
      '{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo",' +
      '"retryDelay":"34.5s"}]}}';
    expect(classifyModelError(apiError(429, { body })).retryAfterMs).toBe(34_500);
  });
});

describe('toModelError', () => {
  test('has a stable code, says what to do, and repeats what the provider said', () => {
    const error = toModelError(
      apiError(404, { message: 'The model `gpt-9` does not exist' }),
      'openai:gpt-9',
    );
    expect(error).toMatchObject({
      code: 'model_model_not_found',
      kind: 'model_not_found',
      status: 404,
      retryable: false,
    });
    expect(error.message).toBe(
      'openai:gpt-9 does not exist, or these credentials may not use it. Check the model ' +
        'id or the deployment name (HTTP 404). The provider says: The model `gpt-9` does not ' +
        'exist',
    );
    expect(error.toJSON()).toMatchObject({
      name: 'ModelError',
      data: { model: 'openai:gpt-9', kind: 'model_not_found', status: 404 },
    });
    expect(toModelError(error, 'other')).toBe(error);
  });

  test('holds no key, no header and no prompt, not even in its cause', () => {
    const key = 'sk-proj-abcdefghijklmnop123456';
    const own = '0123456789abcdef0123456789abcdef';
    const error = toModelError(
      apiError(401, {
        message: `Incorrect API key provided: ${key}, ${own}. Authorization: Bearer topsecretvalue`,
        headers: { 'x-request': 'header-secret' },
        cause: systemError('EPIPE'),
      }),
      'openai:gpt-5',
    );
    const everything =
      `${error.message} ${JSON.stringify(error)} ${String(error.cause)} ` + `${error.stack}`;
    for (const secret of [key, own, 'topsecretvalue', 'header-secret', 'the secret prompt'])
      expect(everything).not.toContain(secret);
    expect(error.cause).toMatchObject({ code: 'EPIPE' });
    const nested = toModelError(streamed(apiError(400)), 'a:b');
    expect(nested.code).toBe('model_invalid_request');
    const quoting = toModelError(
      new JSONParseError({ text: 'the secret prompt', cause: undefined }),
      'a:b',
    );
    expect(`${quoting.message} ${String(quoting.cause)}`).not.toContain('the secret prompt');
  });

  test('shortens what the provider said', () => {
    expect(
      toModelError(apiError(400, { message: 'x'.repeat(5_000) }), 'a:b').message.length,
    ).toBeLessThan(600);
  });
});
