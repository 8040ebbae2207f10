import { type ErrorHandler, toolResult } from 'adjutant';
import { advanceTime, model, runTest, user } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { againAfter, closed, plain, succeeded } from '../result-patterns.ts';
import { asks, fails, results, worker, working } from './worker.ts';

describe('error handlers', () => {
  const handler = (handle: ErrorHandler['handle']): { errorHandlers: ErrorHandler[] } => ({
    errorHandlers: [{ name: 'own', handle }],
  });
  const attempts: number[] = [];

  test.each<[string, ReturnType<ErrorHandler['handle']>, readonly object[], string, object]>([
    ['skip', { action: 'skip' }, [plain], 'completed', {}],
    ['pass', { action: 'pass' }, [closed], 'completed', {}],
    ['nothing', undefined, [closed], 'completed', {}],
    ['fallback', { action: 'fallback', result: 'something else' }, [succeeded], 'completed', {}],
    ['throw', { action: 'throw' }, [plain], 'error', { code: 'odd', message: 'It failed.' }],
  ])('%s', async (name, action, expected, status, error) => {
    const { events, result } = await runTest(
      worker(
        [working(() => fails()).tool],
        handler(() => action),
      ),
      [user('Go'), asks('write'), ...(status === 'completed' ? [model('done')] : [])],
    );
    expect(results(events)).toMatchObject(expected);
    expect(result.status).toBe(status);
    if (status === 'error') expect(result.error).toMatchObject(error);
    expect(
      explain(events, { components: ['error_handler'] }).map(({ decision }) => decision),
    ).toEqual(name === 'pass' || name === 'nothing' ? [] : [name]);
  });

  test('abort cancels the run, and the result is on record', async () => {
    const { events, result } = await runTest(
      worker(
        [working(() => fails()).tool],
        handler(() => ({ action: 'abort' })),
      ),
      [user('Go'), asks('write')],
    );
    expect(result.status).toBe('cancelled');
    expect(results(events)).toMatchObject([{ settled: true, result: { errorType: 'odd' } }]);
    expect(explain(events, { components: ['error_handler'] })).toMatchObject([
      { decision: 'abort', why: expect.stringContaining('"own"') },
    ]);
  });

  test(
    'retry shares the count with the router: three attempts are all that one ' + 'cause gets',
    async () => {
      const { tool: write, seen } = working(() =>
        toolResult.transient('busy', { errorType: 'queue_full' }),
      );
      const own = handler((ctx) => {
        attempts.push(ctx.attempt);
        return { action: 'retry', delayMs: 50 };
      });
      const { events } = await runTest(worker([write], own), [
        user('Go'),
        asks('write'),
        advanceTime(10_000),
        model('done'),
      ]);
      expect(attempts).toEqual([1, 2, 3]);
      expect(seen).toHaveLength(3);
      expect(results(events)).toMatchObject([againAfter(50), againAfter(50), closed]);
      expect(
        explain(events, { components: ['error_handler'] }).map(({ decision }) => decision),
      ).toEqual(['retry', 'retry', 'refuse_retry']);
      const once = handler((ctx) => (ctx.attempt === 1 ? { action: 'retry' } : undefined));
      const mixed = await runTest(
        worker(
          [working(() => toolResult.transient('busy', { errorType: 'queue_full' })).tool],
          once,
        ),
        [user('Go'), asks('write'), advanceTime(10_000), model('done')],
      );
      // The attempt of the handler is the first step of the chain.
      expect(results(mixed.events)).toMatchObject([againAfter(0), againAfter(2_000), closed]);
    },
  );

  test('retry is refused where another attempt could do something twice', async () => {
    const lost = () => Promise.reject(Object.assign(new Error('lost'), { code: 'ECONNRESET' }));
    const { tool: write, seen } = working(lost);
    const { events } = await runTest(
      worker(
        [write],
        handler(() => ({ action: 'retry' })),
      ),
      [user('Go'), asks('write'), model('done')],
    );
    expect(seen).toHaveLength(1);
    expect(results(events)).toMatchObject([
      { settled: true, effect: 'unknown', result: { status: 'unknown' } },
    ]);
    expect(explain(events, { components: ['error_handler'] })).toMatchObject([
      { decision: 'refuse_retry', why: expect.stringContaining('twice') },
    ]);
  });

  test('know the error, the call and what the other side asks for', async () => {
    let seen: unknown;
    const own = handler((ctx) => {
      seen = {
        phase: ctx.phase,
        code: ctx.error.code,
        attempt: ctx.attempt,
        wait: ctx.retryAfterMs,
        may: ctx.mayRetry,
        call: ctx.call?.name,
      };
      return { action: 'skip' };
    });
    const busy = () =>
      Promise.reject(
        Object.assign(new Error('busy'), { status: 429, headers: { 'retry-after': '3' } }),
      );
    await runTest(worker([working(busy).tool], own), [user('Go'), asks('write'), model('done')]);
    expect(seen).toEqual({
      phase: 'tool',
      code: 'http_429',
      attempt: 1,
      wait: 3_000,
      may: true,
      call: 'write',
    });
  });
});
