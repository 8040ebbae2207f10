import { type ErrorRoutingOptions, ToolFailure, tool, toolResult } from 'adjutant';
import { advanceTime, crash, model, result, runTest, type TestStep, user } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { againAfter, closed, hinted, plain, succeeded, vetoed } from '../result-patterns.ts';
import { asks, failing, http, type Options, results, worker } from './failing-tool.ts';

describe('every chain: error type, attempt, strategy, and what happened next', () => {
  test.each<[string, () => unknown, Options, readonly object[], readonly string[]]>([
    ['http_403', () => http(403), {}, [hinted, closed, vetoed, vetoed], ['hint 1', 'report 2']],
    ['http_404', () => http(404), {}, [hinted, closed, vetoed, vetoed], ['hint 1', 'report 2']],
    ['http_410', () => http(410), {}, [hinted, closed, vetoed, vetoed], ['hint 1', 'report 2']],
    ['http_401', () => http(401), {}, [closed, vetoed, vetoed], ['report 1']],
    ['http_400', () => http(400), {}, [closed, vetoed, vetoed], ['report 1']],
    [
      'http_429',
      () => http(429, { headers: { 'retry-after': '7' } }),
      {},
      [againAfter(7_000), closed, closed, closed, closed],
      ['backoff 1', 'report 2', 'report 3', 'report 4', 'report 5'],
    ],
    [
      'http_503',
      () => http(503),
      { readOnly: true },
      [againAfter(1_000), againAfter(2_000), closed, closed, closed, closed],
      ['backoff 1', 'backoff 2', 'report 3', 'report 4', 'report 5', 'report 6'],
    ],
    [
      'timeout',
      () => Object.assign(new Error('slow'), { code: 'ETIMEDOUT' }),
      { readOnly: true },
      [againAfter(0), hinted, closed, closed, closed],
      ['retry 1', 'hint 2', 'report 3', 'report 4', 'report 5'],
    ],
    [
      'parse_error',
      () => new ToolFailure('no XML', { errorType: 'parse_error' }),
      {},
      [hinted, closed, vetoed, vetoed],
      ['hint 1', 'report 2'],
    ],
    [
      'empty_result',
      () => toolResult.permanent('nothing', { errorType: 'empty_result' }),
      {},
      [hinted, hinted, closed, vetoed],
      ['hint 1', 'hint 2', 'report 3'],
    ],
    [
      'ssrf_blocked',
      () => new ToolFailure('private', { errorType: 'ssrf_blocked', status: 'error_blocked' }),
      {},
      [closed, vetoed, vetoed],
      ['report 1'],
    ],
    [
      'tool_error',
      () => new Error('no such order'),
      {},
      [hinted, closed, vetoed, vetoed],
      ['hint 1', 'report 2'],
    ],
    [
      'a word of its own that may pass',
      () => toolResult.transient('busy', { errorType: 'queue_full' }),
      {},
      [againAfter(1_000), againAfter(2_000), closed, closed, closed, closed],
      ['backoff 1', 'backoff 2', 'report 3', 'report 4', 'report 5', 'report 6'],
    ],
  ])('%s', async (_name, how, options, expected, strategies) => {
    // A result for each call.
    const calls = Array.from(
      { length: expected.filter((result) => !('retryAfterMs' in result)).length },
      () => asks('fetch'),
    ).flat();
    const { events, result } = await runTest(
      worker([failing(how, options)], { supervision: { circuitBreaker: false } }),
      [user('Go'), ...calls, model('done')],
    );
    expect(results(events)).toMatchObject(expected);
    expect(
      explain(events, { components: ['error_router'] }).map(
        ({ decision, data }) => `${decision} ${data?.['attempt']}`,
      ),
    ).toEqual(strategies);
    expect(result.status).toBe('completed');
  });

  test('validation_error and unknown_tool', async () => {
    const strict = tool({
      name: 'strict',
      description: 'x',
      schema: z.object({ id: z.int() }),
      execute: () => 1,
    });
    const wrong = await runTest(worker([strict]), [
      user('Go'),
      ...asks('strict'),
      ...asks('strict'),
      ...asks('strict'),
      model('done'),
    ]);
    expect(results(wrong.events)).toMatchObject([hinted, closed, vetoed]);
    const missing = await runTest(worker([strict]), [
      user('Go'),
      ...asks('fetch'),
      ...asks('fetch'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(results(missing.events)).toMatchObject([hinted, closed, vetoed]);
  });

  test('parse_error with what came raw', async () => {
    const how = () =>
      new ToolFailure('no XML', { errorType: 'parse_error', data: { raw: '<a><b>', line: 3 } });
    const { events } = await runTest(worker([failing(how)]), [
      user('Go'),
      ...asks('fetch'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(
      explain(events, { components: ['error_router'] }).map(({ decision }) => decision),
    ).toEqual(['hint', 'raw']);
    expect(results(events)[1]?.result).toMatchObject({
      status: 'partial',
      content: '<a><b>',
      metadata: { line: 3 },
    });
  });

  test('blocked errors are never tried again, whatever their type', async () => {
    for (const errorType of [
      'http_403',
      'http_429',
      'timeout',
      'parse_error',
      'ssrf_blocked',
      'odd',
    ]) {
      const blocked = failing(() => toolResult.blocked('no', { errorType }), { readOnly: true });
      // After three calls that are not let through there are no tools any more.
      const rounds = ['http_429', 'ssrf_blocked', 'odd'].includes(errorType) ? 3 : 4;
      const { events } = await runTest(worker([blocked]), [
        user('Go'),
        ...Array.from({ length: rounds }, () => asks('fetch')).flat(),
        model('done'),
      ]);
      expect(results(events).every(({ settled }) => settled)).toBe(true);
      expect(blocked.runs.length).toBeLessThanOrEqual(2);
    }
  });

  test('an unknown effect is never tried again, unless the tool may be run again', async () => {
    for (const how of [
      () => http(503),
      () => Object.assign(new Error('lost'), { code: 'ECONNRESET' }),
      () => toolResult.timeout('slow'),
    ]) {
      const once = failing(how);
      const { events } = await runTest(worker([once]), [
        user('Go'),
        ...asks('fetch'),
        model('done'),
      ]);
      expect(once.runs).toEqual([1]);
      expect(results(events)).toMatchObject([
        { settled: true, effect: 'unknown', result: { status: 'unknown' } },
      ]);
      const again = failing(how, { recovery: 'rerun', times: 1 });
      expect(
        results(
          (await runTest(worker([again]), [user('Go'), ...asks('fetch'), model('done')])).events,
        ).at(-1),
      ).toMatchObject(succeeded);
    }
  });

  test(
    'each decision says why and what else there was, and lands with the result that it is ' +
      'about',
    async () => {
      const { events } = await runTest(worker([failing(() => http(404))]), [
        user('Go'),
        ...asks('fetch'),
        model('done'),
      ]);
      const [decision] = explain(events, { components: ['error_router'] });
      expect(decision).toMatchObject({
        decision: 'hint',
        why: expect.stringContaining('http_404 for the first time'),
        alternatives: ['report'],
        data: {
          tool: 'fetch',
          errorType: 'http_404',
          attempt: 1,
          callId: events.filter((event) => event.type === 'tool_call')[0]?.callId,
        },
      });
      expect(results(events)[0]?.seq).toBe((decision?.seq ?? 0) + 1);
    },
  );

  test('a success, another message and other arguments begin the count anew', async () => {
    const flaky = failing(() => http(429), { times: 1 });
    const first = await runTest(worker([flaky]), [
      user('Go'),
      ...asks('fetch'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(results(first.events)).toMatchObject([againAfter(1_000), succeeded, succeeded]);
    const steps = (text: string) => [user(text), ...asks('fetch'), model('no')];
    const again = await runTest(worker([failing(() => http(429))]), [
      ...steps('Go'),
      ...steps('Try again'),
    ]);
    expect(results(again.events)).toMatchObject([
      againAfter(1_000),
      closed,
      againAfter(1_000),
      closed,
    ]);
    const pages = ['a', 'b'].flatMap((page) => asks('fetch', { page }));
    const other = await runTest(worker([failing(() => http(404))]), [
      user('Go'),
      ...pages,
      model('done'),
    ]);
    expect(results(other.events)).toMatchObject([hinted, hinted]);
  });

  test('errors that change by turns do not go on for ever', async () => {
    let turn = 0;
    const page = failing(() => http(turn++ % 2 === 0 ? 500 : 502), { readOnly: true });
    const { events } = await runTest(worker([page], { supervision: { circuitBreaker: false } }), [
      user('Go'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(events.filter((event) => event.type === 'tool_attempt')).toHaveLength(6);
    expect(results(events).at(-1)).toMatchObject(closed);
  });
});

describe('chains that somebody wrote', () => {
  const errors = (options: ErrorRoutingOptions) => ({ supervision: { errors: options } });

  test('for the runtime and for the agent, with their own numbers', async () => {
    const shared = {
      supervision: {
        errors: {
          chains: { http_404: ['backoff', 'report'] as const },
          initialDelayMs: 10,
          maxDelayMs: 15,
        },
      },
    };
    const { events } = await runTest(
      worker([failing(() => http(404))]),
      [user('Go'), ...asks('fetch'), model('done')],
      { runtime: shared },
    );
    expect(results(events)).toMatchObject([againAfter(10), closed]);
    const own = errors({
      chains: { http_404: ['backoff', 'backoff', { hint: 'Ask the archive.' }] },
    });
    const agents = await runTest(
      worker([failing(() => http(404))], own),
      [user('Go'), ...asks('fetch'), model('done')],
      { runtime: shared },
    );
    expect(results(agents.events)).toMatchObject([againAfter(10), againAfter(15), hinted]);
    expect(results(agents.events).at(-1)?.notes).toEqual(['Ask the archive.']);
  });

  test('switched off, nothing is tried again, and nothing is said', async () => {
    const { events } = await runTest(
      worker([failing(() => http(429))], { supervision: { errors: false } }),
      [user('Go'), ...asks('fetch'), model('done')],
    );
    expect(results(events)).toMatchObject([plain]);
    expect(events.filter((event) => event.type === 'decision')).toEqual([]);
  });

  test(
    'the own `retry` of a tool comes first, and the chain after it does not ' + 'try again',
    async () => {
      const own = failing(() => http(429), {
        retry: { attempts: 3, initialDelayMs: 5, multiplier: 1 },
      });
      const { events } = await runTest(worker([own]), [
        user('Go'),
        ...asks('fetch'),
        model('done'),
      ]);
      expect(results(events)).toMatchObject([againAfter(5), againAfter(5), closed]);
      const never = failing(() => http(429), { retry: { attempts: 1 } });
      expect(
        results(
          (await runTest(worker([never]), [user('Go'), ...asks('fetch'), model('done')])).events,
        ),
      ).toMatchObject([closed]);
    },
  );

  test('the jitter of a tool is kept below the longest delay, and differs by attempt', async () => {
    const own = failing(() => http(429), {
      retry: { attempts: 4, initialDelayMs: 4_000, maxDelayMs: 6_000, jitter: true },
    });
    // The three delays take 16 seconds at most, of which `asks` lets 8 pass.
    const { events } = await runTest(worker([own]), [
      user('Go'),
      ...asks('fetch'),
      advanceTime(8_000),
      model('done'),
    ]);
    const delays = results(events).flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
    expect(delays).toHaveLength(3);
    expect(new Set(delays).size).toBeGreaterThan(1);
    for (const delay of delays) expect(delay).toBeLessThanOrEqual(6_000);
  });

  test('a restart between two attempts keeps the count', async () => {
    const busy = failing(() => http(429));
    const options = errors({
      chains: { http_429: ['backoff', 'backoff', 'report'] },
      initialDelayMs: 60_000,
      maxDelayMs: 600_000,
    });
    const [call] = asks('fetch') as [TestStep];
    const { events } = await runTest(worker([busy], options), [
      user('Go'),
      call,
      crash(),
      advanceTime(180_000),
      model('done'),
    ]);
    expect(busy.runs).toEqual([1, 2, 3]);
    expect(results(events)).toMatchObject([againAfter(60_000), againAfter(120_000), closed]);
  });

  test('an attempt that was cut off does not begin the count anew', async () => {
    const busy = failing(() => http(503), { readOnly: true });
    const [call] = asks('fetch') as [TestStep];
    const first = [
      user('Go'),
      call,
      result({ fetch: http(503) }),
      advanceTime(1_000),
      crash({ after: 'fetch' }),
    ];
    const { events } = await runTest(worker([busy]), [...first, advanceTime(8_000), model('done')]);
    expect(busy.runs).toEqual([2, 3, 4]);
    expect(results(events)).toMatchObject([
      againAfter(1_000),
      againAfter(0),
      againAfter(2_000),
      closed,
    ]);
  });
});
