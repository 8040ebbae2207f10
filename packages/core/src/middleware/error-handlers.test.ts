import { describe, expect, test } from 'vitest';
import type { ToolResult } from '../ledger/tool-result.ts';
import type { ErrorAction, ErrorContext, ErrorHandler } from '../runnables/hooks.ts';
import {
  loggingHandler,
  rateLimitHandler,
  retryHandler,
  timeoutHandler,
} from './error-handlers.ts';

function failure(code: string, more: Partial<ErrorContext> = {}): ErrorContext {
  return {
    phase: 'model',
    error: Object.assign(new Error('failed'), { code }),
    attempt: 1,
    mayRetry: true,
    ...more,
  } as ErrorContext;
}

function ofTool(result: Partial<ToolResult>, more: Partial<ErrorContext> = {}): ErrorContext {
  return failure(result.errorType ?? 'tool_error', {
    phase: 'tool',
    result: { status: 'error_permanent', content: '', ...result },
    ...more,
  });
}

async function ask(handler: ErrorHandler, ctx: ErrorContext): Promise<ErrorAction> {
  if (handler.canHandle !== undefined && !handler.canHandle(ctx)) return { action: 'pass' };
  return (await handler.handle(ctx)) ?? { action: 'pass' };
}

const pass = { action: 'pass' };

describe('retryHandler', () => {
  test.each([
    ['the first failure', failure('model_overloaded'), { action: 'retry', delayMs: 500 }],
    [
      'the second',
      failure('model_overloaded', { attempt: 2 }),
      { action: 'retry', delayMs: 1_000 },
    ],
    ['the third, which is the last attempt', failure('model_overloaded', { attempt: 3 }), pass],
    [
      'one that asks for a longer wait',
      failure('model_rate_limit', { retryAfterMs: 9_000 }),
      { action: 'retry', delayMs: 9_000 },
    ],
    [
      'one that asks for a shorter wait',
      failure('model_rate_limit', { retryAfterMs: 10 }),
      { action: 'retry', delayMs: 500 },
    ],
    ['one that will not be over soon', failure('model_auth'), pass],
    ['one that might be done twice', failure('model_overloaded', { mayRetry: false }), pass],
    [
      'a tool that may work later',
      ofTool({ status: 'error_transient' }),
      { action: 'retry', delayMs: 500 },
    ],
    ['a tool that took too long', ofTool({ status: 'timeout' }), { action: 'retry', delayMs: 500 }],
    ['a tool that will not work', ofTool({ status: 'error_permanent' }), pass],
    ['a tool that was refused', ofTool({ status: 'error_blocked' }), pass],
  ])('%s', async (_what, ctx, expected) => {
    expect(await ask(retryHandler(), ctx)).toEqual(expected);
  });

  test('options say how often, how fast and what', async () => {
    const handler = retryHandler({
      attempts: 20,
      initialDelayMs: 100,
      retryable: ({ phase }) => phase === 'tool',
    });
    expect(await ask(handler, failure('model_overloaded'))).toEqual(pass);
    expect(await ask(handler, ofTool({}, { attempt: 4 }))).toEqual({
      action: 'retry',
      delayMs: 800,
    });
    // Never more than a minute.
    expect(await ask(handler, ofTool({}, { attempt: 19 }))).toEqual({
      action: 'retry',
      delayMs: 60_000,
    });
  });
});

describe('rateLimitHandler', () => {
  test.each([
    ['a model', failure('model_rate_limit'), { action: 'retry', delayMs: 1_000 }],
    ['a tool', ofTool({ errorType: 'http_429' }), { action: 'retry', delayMs: 1_000 }],
    [
      'a tool with its own word for it',
      ofTool({ errorType: 'rate_limit' }),
      { action: 'retry', delayMs: 1_000 },
    ],
    [
      'the fifth failure',
      failure('model_rate_limit', { attempt: 5 }),
      { action: 'retry', delayMs: 16_000 },
    ],
    ['the sixth', failure('model_rate_limit', { attempt: 6 }), pass],
    [
      'what the other side asks for, when it is shorter',
      failure('model_rate_limit', { attempt: 5, retryAfterMs: 20 }),
      { action: 'retry', delayMs: 20 },
    ],
    [
      'what the other side asks for, when it is longer',
      failure('model_rate_limit', { retryAfterMs: 90_000 }),
      { action: 'retry', delayMs: 90_000 },
    ],
    ['another failure', failure('model_overloaded'), pass],
    ['one that might be done twice', ofTool({ errorType: 'http_429' }, { mayRetry: false }), pass],
  ])('%s', async (_what, ctx, expected) => {
    expect(await ask(rateLimitHandler(), ctx)).toEqual(expected);
  });

  test('options say how often and how fast', async () => {
    const handler = rateLimitHandler({ attempts: 2, initialDelayMs: 50 });
    expect(await ask(handler, failure('model_rate_limit'))).toEqual({
      action: 'retry',
      delayMs: 50,
    });
    expect(await ask(handler, failure('model_rate_limit', { attempt: 2 }))).toEqual(pass);
    expect(await ask(rateLimitHandler({ attempts: 1 }), failure('model_rate_limit'))).toEqual(pass);
  });

  test('delays grow by `multiplier` up to `maxDelayMs`', async () => {
    const handler = rateLimitHandler({ attempts: 9, maxDelayMs: 5_000, multiplier: 3 });
    const delays = [1, 2, 3].map((attempt) =>
      ask(handler, failure('model_rate_limit', { attempt })),
    );
    expect(await Promise.all(delays)).toMatchObject([
      { delayMs: 1_000 },
      { delayMs: 3_000 },
      { delayMs: 5_000 },
    ]);
  });

  test('with `jitter` equal failures of different agents wait differently', async () => {
    const handler = rateLimitHandler({ jitter: true });
    const delayOf = async (invocationId: string) =>
      (await ask(handler, failure('model_rate_limit', { invocationId }))) as { delayMs: number };
    const [one, other, again] = await Promise.all(['a', 'b', 'a'].map(delayOf));
    expect(one).not.toEqual(other);
    expect(again).toEqual(one);
    expect(one?.delayMs).toBeLessThanOrEqual(1_000);
  });
});

describe('timeoutHandler', () => {
  const handler = timeoutHandler({ fallbackResult: { error: 'Timed out' } });
  const fallback = { action: 'fallback', result: { error: 'Timed out' } };

  test.each([
    ['a model', failure('model_timeout'), fallback],
    ['a tool', ofTool({ status: 'timeout', errorType: 'timeout' }), fallback],
    ['a tool with a word of its own', ofTool({ status: 'timeout', errorType: 'slow' }), fallback],
    ['another failure', failure('model_overloaded'), pass],
    [
      'a tool of which nobody knows what it did',
      ofTool({ status: 'unknown', errorType: 'timeout' }),
      pass,
    ],
  ])('%s', async (_what, ctx, expected) => {
    expect(await ask(handler, ctx)).toEqual(expected);
  });

  test('nothing can be the fallback when it is said', async () => {
    expect(await ask(timeoutHandler({ fallbackResult: null }), failure('model_timeout'))).toEqual({
      action: 'fallback',
      result: null,
    });
  });
});

describe('loggingHandler', () => {
  test('hands over each error and passes it on', async () => {
    const seen: ErrorContext[] = [];
    const ctx = failure('model_overloaded');
    expect(await ask(loggingHandler({ onError: (given) => void seen.push(given) }), ctx)).toEqual(
      pass,
    );
    expect(seen).toEqual([ctx]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('disk full');
      },
    ],
    ['rejects', () => Promise.reject(new Error('disk full'))],
  ])('passes on when the log %s', async (_how, onError) => {
    expect(await ask(loggingHandler({ onError }), failure('model_overloaded'))).toEqual(pass);
  });
});

test.each([
  () => retryHandler({ attempts: 0 }),
  () => retryHandler({ initialDelayMs: -1 }),
  () => rateLimitHandler({ attempts: 0 }),
  () => rateLimitHandler({ maxRetries: 3 } as never),
  () => retryHandler({ jitter: 1 } as never),
  () => timeoutHandler({} as never),
  () => loggingHandler({} as never),
])('options that cannot work are refused: %s', (make) => {
  expect(make).toThrow('cannot be set up');
});
