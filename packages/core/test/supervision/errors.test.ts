import {
  type AgentOptions,
  agent,
  type ErrorRoutingOptions,
  type Event,
  type JsonValue,
  openai,
  runtime,
  type Tool,
  ToolFailure,
  type ToolOptions,
  tool,
  toolResult,
} from 'adjutant';
import {
  advanceTime,
  answer,
  approve,
  crash,
  eventually,
  meanwhile,
  model,
  result,
  runTest,
  scriptedModel,
  type TestStep,
  testClock,
  user,
} from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  againAfter,
  closed,
  hinted,
  plain,
  succeeded,
  thenTool,
  vetoed,
} from '../result-patterns.ts';

/** The model asks for a call, and there is time for all its attempts. */
const asks = (name: string, args: JsonValue = { page: 'a' }): readonly TestStep[] => [
  model({ toolCalls: [{ name, args }] }),
  advanceTime(8_000),
];
const worker = (tools: AgentOptions['tools'] & object, more: Partial<AgentOptions> = {}) =>
  agent({ name: 'worker', model: openai('gpt-5'), tools, ...more });
const results = (events: readonly Event[]) =>
  events.filter((event) => event.type === 'tool_result');

const http = (status: number, more: object = {}) =>
  Object.assign(new Error(`HTTP ${status}`), { status, ...more });

type Options = Partial<ToolOptions<unknown, unknown, unknown, never>>;

/** A tool that fails as often as it is said how, and then works. */
function failing(
  how: () => unknown,
  { times = Number.POSITIVE_INFINITY, ...options }: Options & { times?: number } = {},
): Tool & { runs: number[] } {
  const runs: number[] = [];
  const made = tool({
    name: 'fetch',
    description: 'Fetches a page',
    schema: z.looseObject({}),
    execute: (ctx) => {
      runs.push(ctx.attempt);
      if (runs.length > times) return 'the page';
      const thrown = how();
      if (thrown instanceof Error) throw thrown;
      return thrown;
    },
    ...(options as object),
  });
  return Object.assign(Object.create(Object.prototype), made, { runs }) as Tool & {
    runs: number[];
  };
}

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
    const { events } = await runTest(worker([own]), [user('Go'), ...asks('fetch'), model('done')]);
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

describe('a fallback tool', () => {
  const archive = (
    execute: (args: unknown) => unknown = () => 'from the archive',
    more: Options = {},
  ) =>
    tool({
      name: 'archive',
      description: 'Old pages',
      schema: z.object({ url: z.string() }),
      execute: ({ args }) => execute(args),
      ...(more as object),
    });
  const args = (given: unknown) => ({ url: `archive:${(given as { page: string }).page}` });
  const straight = {
    supervision: { errors: { chains: { http_403: ['fallbackTool', 'report'] as const } } },
  };
  const blocked = (more: Options = {}) =>
    failing(() => http(403), { fallback: { tool: 'archive', args }, ...more });

  test(
    'is run when the chain comes to it; its result is that of the call that was ' + 'asked for',
    async () => {
      const seen: unknown[] = [];
      const old = archive((given) => {
        seen.push(given);
        return 'old page';
      });
      const { events } = await runTest(worker([blocked(), old]), [
        user('Go'),
        ...asks('fetch'),
        ...asks('fetch'),
        model('done'),
      ]);
      expect(results(events)).toMatchObject([hinted, thenTool('archive'), succeeded]);
      expect(seen).toEqual([{ url: 'archive:a' }]);
      expect(
        events
          .filter((event) => event.type === 'tool_attempt')
          .map(({ tool: name, attempt }) => [name, attempt]),
      ).toEqual([
        [undefined, 1],
        [undefined, 1],
        ['archive', 2],
      ]);
      expect(results(events).at(-1)).toMatchObject({
        name: 'fetch',
        settled: true,
        result: { content: 'old page' },
      });
      const keys = events.filter((event) => event.type === 'tool_attempt').map(({ key }) => key);
      expect(new Set(keys).size).toBe(3);
    },
  );

  test('that fails too goes by its own chain, and by its own retries', async () => {
    const old = archive(() => Promise.reject(http(404)));
    const { events } = await runTest(worker([blocked(), old]), [
      user('Go'),
      ...asks('fetch'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(results(events)).toMatchObject([hinted, thenTool('archive'), hinted]);
    expect(explain(events, { components: ['error_router'] }).at(-1)).toMatchObject({
      decision: 'hint',
      data: { tool: 'archive', errorType: 'http_404' },
    });
    let runs = 0;
    const flaky = archive(() => (++runs < 3 ? toolResult.transient('busy') : 'got it'), {
      retry: { initialDelayMs: 5, multiplier: 1 },
    });
    const retried = await runTest(worker([blocked(), flaky]), [
      user('Go'),
      ...asks('fetch'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(results(retried.events)).toMatchObject([
      hinted,
      thenTool('archive'),
      againAfter(5),
      againAfter(5),
      succeeded,
    ]);
  });

  test(
    'that is not there is passed over; one whose arguments do not fit leaves the failure as ' +
      'it was',
    async () => {
      const alone = await runTest(worker([blocked()]), [
        user('Go'),
        ...asks('fetch'),
        ...asks('fetch'),
        model('done'),
      ]);
      expect(results(alone.events)).toMatchObject([hinted, closed]);
      const misfit = await runTest(
        worker([failing(() => http(403), { fallback: 'archive' }), archive()]),
        [user('Go'), ...asks('fetch'), ...asks('fetch'), model('done')],
      );
      expect(results(misfit.events)).toMatchObject([hinted, thenTool('archive'), hinted]);
      expect(results(misfit.events).at(-1)).toMatchObject({
        attempt: 0,
        result: { errorType: 'http_403' },
      });
      expect(explain(misfit.events, { components: ['error_router'] }).at(-1)).toMatchObject({
        decision: 'report',
        why: expect.stringContaining('do not fit'),
      });
    },
  );

  test('asks for its own approval, and needs its own permissions', async () => {
    const asked = await runTest(worker([blocked(), archive(undefined, { approval: true })]), [
      user('Go'),
      ...asks('fetch'),
      ...asks('fetch'),
    ]);
    expect(asked.result).toMatchObject({
      status: 'yielded',
      pendingApprovals: [{ name: 'archive', args: { url: 'archive:a' } }],
    });
    const denied = await runTest(
      worker([blocked(), archive(undefined, { requiresPermission: ['archive:read'] })]),
      [user('Go'), ...asks('fetch'), ...asks('fetch'), model('done')],
    );
    expect(results(denied.events).at(-1)).toMatchObject({
      result: { errorType: 'permission_denied' },
    });
    const reading = archive(undefined, { requiresPermission: ['archive:read'] });
    const steps = [user('Go'), ...asks('fetch'), ...asks('fetch'), model('done')];
    const allowed = await runTest(worker([blocked(), reading]), steps, {
      runtime: { permissions: ['archive:*'] },
    });
    expect(results(allowed.events).at(-1)).toMatchObject(succeeded);
  });

  test(
    'an approval of the tool that was asked for is none for the tool that ' + 'stands in',
    async () => {
      const page = blocked({ approval: true });
      const run = await runTest(worker([page, archive(undefined, { approval: true })], straight), [
        user('Go'),
        ...asks('fetch'),
        approve('fetch'),
        meanwhile(({ pending }) =>
          expect(pending).toMatchObject([{ name: 'archive', args: { url: 'archive:a' } }]),
        ),
        approve('archive'),
        model('done'),
      ]);
      expect(run.output).toBe('done');
      expect(results(run.events)).toMatchObject([thenTool('archive'), succeeded]);
      expect(page.runs).toEqual([1]);
    },
  );

  test.each<['rerun' | 'report', number, object]>([
    ['rerun', 2, succeeded],
    ['report', 1, plain],
  ])(
    'a restart in its attempt goes on with it, by its own recovery: %s',
    async (recovery, times, end) => {
      let entered = 0;
      const old = archive(
        () => {
          entered++;
          return 'old page';
        },
        { recovery },
      );
      const page = blocked();
      const steps = [
        user('Go'),
        ...asks('fetch'),
        crash({ after: 'archive' }),
        advanceTime(8_000),
        model('done'),
      ];
      const { events } = await runTest(worker([page, old], straight), steps);
      expect(page.runs).toEqual([1]);
      expect(entered).toBe(times);
      expect(results(events).at(-1)).toMatchObject(end);
      const attempts = events.filter((event) => event.type === 'tool_attempt');
      expect(attempts.map(({ tool: name }) => name)).toEqual([
        undefined,
        ...Array(times).fill('archive'),
      ]);
    },
  );
});

describe('escalation', () => {
  const how = () => new ToolFailure('The vault is locked.', { errorType: 'locked' });
  const to = (escalate: 'caller' | 'human' | 'failures') => ({
    supervision: { errors: { chains: { locked: [{ escalate }] } } },
  });

  test('to the caller: the agent ends with what was tried', async () => {
    const { result, events } = await runTest(worker([failing(how)], to('caller')), [
      user('Go'),
      ...asks('fetch'),
    ]);
    expect(result).toMatchObject({
      status: 'error',
      error: { code: 'escalated', data: { tool: 'fetch', errorType: 'locked' } },
    });
    expect(results(events)).toMatchObject([
      { settled: true, result: { escalate: true, escalation: expect.any(String) } },
    ]);
  });

  test.each<['retry' | 'succeeded' | 'report', string, readonly object[]]>([
    ['retry', 'done', [againAfter(0), succeeded]],
    ['succeeded', 'done', [succeeded]],
    ['report', 'done', [plain]],
  ])('to a person, who says: %s', async (decision, output, expected) => {
    const vault = failing(how, { times: 1 });
    const { session, output: said } = await runTest(worker([vault], to('human')), [
      user('Go'),
      ...asks('fetch'),
      meanwhile(({ pending }) =>
        expect(pending).toMatchObject([
          { kind: 'recovery', request: { options: ['succeeded', 'retry', 'report'] } },
        ]),
      ),
      answer(decision, {
        tool: 'fetch',
        ...(decision === 'succeeded' ? { input: 'opened by hand' } : {}),
      }),
      model('done'),
    ]);
    expect(said).toBe(output);
    expect(results(session.events)).toMatchObject(expected);
    if (decision === 'report')
      expect(results(session.events).at(-1)?.result).toMatchObject({
        errorType: 'locked',
        content: 'The vault is locked.',
      });
    expect(session).toHaveDecision({
      component: 'error_router',
      decision: 'escalate',
      data: expect.objectContaining({ escalateTo: 'human' }),
    });
  });

  test('to the list of failures: the agent goes on, and the session has it', async () => {
    const { result, events } = await runTest(worker([failing(how)], to('failures')), [
      user('Go'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(result).toMatchObject({ status: 'completed', output: 'done' });
    expect(events.filter((event) => event.type === 'error')).toMatchObject([
      { phase: 'escalation', error: { code: 'escalated', data: { errorType: 'locked' } } },
    ]);
  });

  test('a result that asks for it is handed up at once', async () => {
    const escalating = failing(() =>
      toolResult.transient('busy', { escalate: true, escalation: 'I tried all three servers.' }),
    );
    const { result } = await runTest(worker([escalating]), [user('Go'), ...asks('fetch')]);
    expect(escalating.runs).toEqual([1]);
    expect(result.error).toMatchObject({
      code: 'escalated',
      data: { tried: 'I tried all three servers.' },
    });
  });
});

describe('the circuit of a tool', () => {
  test(
    'opens, lets one call through, and closes, over the runs of a runtime, and each change ' +
      'is on record',
    async () => {
      const clock = testClock();
      const app = runtime({
        app: 'circuits',
        ports: { clock },
        supervision: { circuitBreaker: { failures: 3, resetAfter: 60_000 } },
      });
      let isUp = false;
      const page = failing(() => (isUp ? 'the page' : http(503)), { readOnly: true });
      const call = { toolCalls: [{ name: 'fetch' }] };
      const worker = agent({
        name: 'worker',
        model: scriptedModel([
          call,
          call,
          { text: 'a' },
          call,
          { text: 'b' },
          call,
          { text: 'c' },
          call,
          { text: 'd' },
        ]),
        tools: [page],
      });
      const changes = (events: readonly Event[]) =>
        explain(events, { components: ['circuit_breaker'] }).map(({ decision }) => decision);
      const first = await eventually(app.run(worker, 'Go'), { clock });
      expect(page.runs).toEqual([1, 2, 3]);
      expect(changes(first.session.events)).toEqual(['open', 'refuse']);
      expect(results(first.session.events).at(-1)).toMatchObject({
        attempt: 0,
        result: { errorType: 'circuit_open' },
      });
      // Another session of the runtime: its tool is still left alone.
      const second = await eventually(app.run(worker, 'Go'), { clock });
      expect(changes(second.session.events)).toEqual(['refuse']);
      clock.advance(60_000);
      const third = await eventually(app.run(worker, { input: 'Go', session: second.session }), {
        clock,
      });
      expect(changes(third.session.events).slice(1, 3)).toEqual(['half_open', 'open']);
      isUp = true;
      clock.advance(60_000);
      const fourth = await eventually(app.run(worker, 'Go'), { clock });
      expect(changes(fourth.session.events)).toEqual(['half_open', 'close']);
      expect(explain(fourth.session.events, { components: ['circuit_breaker'] })[1]).toMatchObject({
        why: expect.stringContaining('works again'),
        alternatives: expect.any(Array),
        data: { tool: 'fetch', failures: 4 },
      });
    },
  );

  test(
    "stays closed for failures that are not the tool's, and for an agent that " + 'does without',
    async () => {
      for (const how of [
        () => http(404),
        () => http(403),
        () => http(429),
        () => new Error('no such order'),
      ]) {
        const pages = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].flatMap((page) =>
          asks('fetch', { page }),
        );
        expect(
          explain(
            (await runTest(worker([failing(how)]), [user('Go'), ...pages, model('done')])).events,
            { components: ['circuit_breaker'] },
          ),
        ).toEqual([]);
      }
      const many = [0, 1, 2, 3].flatMap((page) => asks('fetch', { page }));
      const broken = failing(() => http(500), { readOnly: true });
      const without = await runTest(worker([broken], { supervision: { circuitBreaker: false } }), [
        user('Go'),
        ...many,
        model('done'),
      ]);
      expect(explain(without.events, { components: ['circuit_breaker'] })).toEqual([]);
      expect(broken.runs).toHaveLength(12);
    },
  );

  test('that is open lets the fallback tool stand in', async () => {
    const other = tool({
      name: 'other',
      description: 'x',
      schema: z.looseObject({}),
      execute: () => 'from the other',
    });
    const broken = failing(() => http(500), { readOnly: true, fallback: 'other' });
    const { events } = await runTest(
      worker([broken, other]),
      [user('Go'), ...asks('fetch'), ...asks('fetch'), model('done')],
      {
        runtime: { supervision: { circuitBreaker: { failures: 2 } } },
      },
    );
    expect(results(events)).toMatchObject([
      againAfter(1_000),
      againAfter(2_000),
      thenTool('other'),
      succeeded,
      thenTool('other'),
      succeeded,
    ]);
    expect(broken.runs).toEqual([1, 2]);
  });
});

describe('permissions', () => {
  const guarded = () => failing(() => 'written', { requiresPermission: ['fs:write', 'fs:read'] });

  test(
    'that are missing refuse the call before anything else, with a decision; those that are ' +
      'there do not',
    async () => {
      const refused = guarded();
      const { events } = await runTest(
        worker([refused]),
        [user('Go'), ...asks('fetch'), model('done')],
        { runtime: { permissions: ['fs:read'] } },
      );
      expect(refused.runs).toEqual([]);
      expect(results(events)).toMatchObject([
        { attempt: 0, result: { status: 'error_blocked', errorType: 'permission_denied' } },
      ]);
      expect(explain(events, { components: ['permissions'] })).toMatchObject([
        { decision: 'refuse', data: { tool: 'fetch', missing: ['fs:write'] } },
      ]);
      const allowed = guarded();
      await runTest(worker([allowed]), [user('Go'), ...asks('fetch'), model('done')], {
        runtime: { permissions: ['fs:*'] },
      });
      expect(allowed.runs).toEqual([1]);
    },
  );

  test('hold also where supervision is off', async () => {
    const refused = guarded();
    await runTest(worker([refused], { supervision: false }), [
      user('Go'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(refused.runs).toEqual([]);
  });
});
