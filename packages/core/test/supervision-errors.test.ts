import { agent, type ErrorRoutingOptions, memoryStore, runtime, type Tool, ToolFailure, type ToolOptions, tool, toolResult } from 'adjutant';
import { eventually, scriptedModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { lasting } from './approving.ts';
import { decided, eventsOf, finished, play, story } from './supervising.ts';

const http = (status: number, more: object = {}) => Object.assign(new Error(`HTTP ${status}`), { status, ...more });

type Options = Partial<ToolOptions<unknown, unknown, unknown, never>>;

/** A tool that fails as often as it is said how, and then works. */
function failing(how: () => unknown, { times = Number.POSITIVE_INFINITY, ...options }: Options & { times?: number } = {}): Tool & { runs: number[] } {
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
  return Object.assign(Object.create(Object.prototype), made, { runs }) as Tool & { runs: number[] };
}

const four = ['fetch', 'fetch', 'fetch', 'fetch'];

describe('every chain: error type, attempt, strategy, and what happened next', () => {
  test.each<[string, () => unknown, Options, readonly string[], readonly string[]]>([
    ['http_403', () => http(403), {}, ['hint', 'closed', 'vetoed', 'vetoed'], ['hint 1', 'report 2']],
    ['http_404', () => http(404), {}, ['hint', 'closed', 'vetoed', 'vetoed'], ['hint 1', 'report 2']],
    ['http_410', () => http(410), {}, ['hint', 'closed', 'vetoed', 'vetoed'], ['hint 1', 'report 2']],
    ['http_401', () => http(401), {}, ['closed', 'vetoed', 'vetoed'], ['report 1']],
    ['http_400', () => http(400), {}, ['closed', 'vetoed', 'vetoed'], ['report 1']],
    [
      'http_429',
      () => http(429, { headers: { 'retry-after': '7' } }),
      {},
      ['again after 7000', 'closed', 'closed', 'closed', 'closed'],
      ['backoff 1', 'report 2', 'report 3', 'report 4', 'report 5'],
    ],
    [
      'http_503',
      () => http(503),
      { readOnly: true },
      ['again after 1000', 'again after 2000', 'closed', 'closed', 'closed', 'closed'],
      ['backoff 1', 'backoff 2', 'report 3', 'report 4', 'report 5', 'report 6'],
    ],
    [
      'timeout',
      () => Object.assign(new Error('slow'), { code: 'ETIMEDOUT' }),
      { readOnly: true },
      ['again after 0', 'hint', 'closed', 'closed', 'closed'],
      ['retry 1', 'hint 2', 'report 3', 'report 4', 'report 5'],
    ],
    [
      'parse_error',
      () => new ToolFailure('no XML', { errorType: 'parse_error' }),
      {},
      ['hint', 'closed', 'vetoed', 'vetoed'],
      ['hint 1', 'report 2'],
    ],
    [
      'empty_result',
      () => toolResult.permanent('nothing', { errorType: 'empty_result' }),
      {},
      ['hint', 'hint', 'closed', 'vetoed'],
      ['hint 1', 'hint 2', 'report 3'],
    ],
    [
      'ssrf_blocked',
      () => new ToolFailure('private', { errorType: 'ssrf_blocked', status: 'error_blocked' }),
      {},
      ['closed', 'vetoed', 'vetoed'],
      ['report 1'],
    ],
    ['tool_error', () => new Error('no such order'), {}, ['hint', 'closed', 'vetoed', 'vetoed'], ['hint 1', 'report 2']],
    [
      'a word of its own that may pass',
      () => toolResult.transient('busy', { errorType: 'queue_full' }),
      {},
      ['again after 1000', 'again after 2000', 'closed', 'closed', 'closed', 'closed'],
      ['backoff 1', 'backoff 2', 'report 3', 'report 4', 'report 5', 'report 6'],
    ],
  ])('%s', async (_name, how, options, expected, strategies) => {
    const { events, result } = await play({ tools: [failing(how, options)], calls: four, agent: { supervision: { circuitBreaker: false } } });
    expect(story(events)).toEqual(expected);
    expect(decided(events, 'error_router').map(({ decision, data }) => `${decision} ${data?.['attempt']}`)).toEqual(strategies);
    expect(result.status).toBe('completed');
  });

  test('validation_error and unknown_tool', async () => {
    const strict = tool({ name: 'strict', description: 'x', schema: z.object({ id: z.int() }), execute: () => 1 });
    const wrong = await play({ tools: [strict], calls: ['strict', 'strict', 'strict'] });
    expect(story(wrong.events)).toEqual(['hint', 'closed', 'vetoed']);
    const missing = await play({ tools: [strict], calls: ['fetch', 'fetch', 'fetch'] });
    expect(story(missing.events)).toEqual(['hint', 'closed', 'vetoed']);
  });

  test('parse_error with what came raw', async () => {
    const how = () => new ToolFailure('no XML', { errorType: 'parse_error', data: { raw: '<a><b>', line: 3 } });
    const { events } = await play({ tools: [failing(how)], calls: ['fetch', 'fetch'] });
    expect(decided(events, 'error_router').map(({ decision }) => decision)).toEqual(['hint', 'raw']);
    expect(eventsOf(events, 'tool_result')[1]?.result).toMatchObject({ status: 'partial', content: '<a><b>', metadata: { line: 3 } });
  });

  test('blocked errors are never tried again, whatever their type', async () => {
    for (const errorType of ['http_403', 'http_429', 'timeout', 'parse_error', 'ssrf_blocked', 'odd']) {
      const blocked = failing(() => toolResult.blocked('no', { errorType }), { readOnly: true });
      const { events } = await play({ tools: [blocked], calls: four });
      expect(eventsOf(events, 'tool_result').every(({ settled }) => settled)).toBe(true);
      expect(blocked.runs.length).toBeLessThanOrEqual(2);
    }
  });

  test('an unknown effect is never tried again, unless the tool may be run again', async () => {
    for (const how of [() => http(503), () => Object.assign(new Error('lost'), { code: 'ECONNRESET' }), () => toolResult.timeout('slow')]) {
      const once = failing(how);
      const { events } = await play({ tools: [once], calls: ['fetch'] });
      expect(once.runs).toEqual([1]);
      expect(eventsOf(events, 'tool_result')).toMatchObject([{ settled: true, effect: 'unknown', result: { status: 'unknown' } }]);
      const again = failing(how, { recovery: 'rerun', times: 1 });
      expect(story((await play({ tools: [again], calls: ['fetch'] })).events).at(-1)).toBe('success');
    }
  });

  test('each decision says why and what else there was, and lands with the result that it is about', async () => {
    const { events } = await play({ tools: [failing(() => http(404))], calls: ['fetch'] });
    const [decision] = decided(events, 'error_router');
    expect(decision).toMatchObject({
      decision: 'hint',
      reasoning: expect.stringContaining('http_404 for the first time'),
      alternatives: ['report'],
      data: { tool: 'fetch', errorType: 'http_404', attempt: 1, callId: eventsOf(events, 'tool_call')[0]?.callId },
    });
    expect(eventsOf(events, 'tool_result')[0]?.seq).toBe((decision?.seq ?? 0) + 1);
  });

  test('a success, another message and other arguments begin the count anew', async () => {
    const flaky = failing(() => http(429), { times: 1 });
    const first = await play({ tools: [flaky], calls: ['fetch', 'fetch'] });
    expect(story(first.events)).toEqual(['again after 1000', 'success', 'success']);
    const clock = testClock();
    const app = runtime({ app: 'twice', ports: { clock } });
    const call = { toolCalls: [{ name: 'fetch' }] };
    const worker = agent({
      name: 'worker',
      model: scriptedModel([call, { text: 'no' }, call, { text: 'no' }]),
      tools: [failing(() => http(429))],
    });
    const { session } = await finished(app.run(worker, 'Go'), clock);
    const again = await finished(app.run(worker, { input: 'Try again', session }), clock);
    expect(story(again.session.events)).toEqual(['again after 1000', 'closed', 'again after 1000', 'closed']);
    const pages = ['a', 'b'].map((page) => ({ name: 'fetch', args: { page } }));
    const other = await play({ tools: [failing(() => http(404))], calls: pages });
    expect(story(other.events)).toEqual(['hint', 'hint']);
  });

  test('errors that change by turns do not go on for ever', async () => {
    let turn = 0;
    const page = failing(() => http(turn++ % 2 === 0 ? 500 : 502), { readOnly: true });
    const { events } = await play({ tools: [page], calls: ['fetch'], agent: { supervision: { circuitBreaker: false } } });
    expect(eventsOf(events, 'tool_attempt')).toHaveLength(6);
    expect(story(events).at(-1)).toBe('closed');
  });
});

describe('chains that somebody wrote', () => {
  const errors = (options: ErrorRoutingOptions) => ({ supervision: { errors: options } });

  test('for the runtime and for the agent, with their own numbers', async () => {
    const shared = { supervision: { errors: { chains: { http_404: ['backoff', 'report'] as const }, initialDelayMs: 10, maxDelayMs: 15 } } };
    const { events } = await play({ tools: [failing(() => http(404))], calls: ['fetch'], runtime: shared });
    expect(story(events)).toEqual(['again after 10', 'closed']);
    const own = errors({ chains: { http_404: ['backoff', 'backoff', { hint: 'Ask the archive.' }] } });
    const agents = await play({ tools: [failing(() => http(404))], calls: ['fetch'], runtime: shared, agent: own });
    expect(story(agents.events)).toEqual(['again after 10', 'again after 15', 'hint']);
    expect(eventsOf(agents.events, 'tool_result').at(-1)?.notes).toEqual(['Ask the archive.']);
  });

  test('switched off, nothing is tried again, and nothing is said', async () => {
    const { events } = await play({ tools: [failing(() => http(429))], calls: ['fetch'], agent: { supervision: { errors: false } } });
    expect(story(events)).toEqual(['plain']);
    expect(eventsOf(events, 'decision')).toEqual([]);
  });

  test('the own `retry` of a tool comes first, and the chain after it does not try again', async () => {
    const own = failing(() => http(429), { retry: { maxAttempts: 3, initialDelayMs: 5, backoffMultiplier: 1 } });
    const { events } = await play({ tools: [own], calls: ['fetch'] });
    expect(story(events)).toEqual(['again after 5', 'again after 5', 'closed']);
    const never = failing(() => http(429), { retry: { maxAttempts: 1 } });
    expect(story((await play({ tools: [never], calls: ['fetch'] })).events)).toEqual(['closed']);
  });

  test('a restart between two attempts keeps the count', async () => {
    const clock = testClock();
    const store = lasting(memoryStore({ clock }));
    const busy = failing(() => http(429));
    const options = errors({ chains: { http_429: ['backoff', 'backoff', 'report'] }, initialDelayMs: 60_000, maxDelayMs: 600_000 });
    const make = () => runtime({ app: 'restarting', store, ports: { clock } });
    const model = scriptedModel([{ toolCalls: [{ name: 'fetch' }] }, { text: 'done' }]);
    const worker = agent({ name: 'worker', model, tools: [busy], ...options });
    const first = make();
    const session = await first.session({ id: 's' });
    const running = first.run(worker, { input: 'Go', session, runId: 'run' });
    running.then(undefined, () => undefined);
    await eventually(() => busy.runs.length === 1 && eventsOf(session.events, 'tool_result').length === 1);
    await first.close();
    const { session: after } = await finished(make().run(worker, { session: 's', runId: 'run' }), clock);
    expect(busy.runs).toEqual([1, 2, 3]);
    expect(story(after.events)).toEqual(['again after 60000', 'again after 120000', 'closed']);
  });

  test('an attempt that was cut off does not begin the count anew', async () => {
    const clock = testClock();
    const store = lasting(memoryStore({ clock }));
    const busy = failing(() => (busy.runs.length === 2 ? new Promise(() => undefined) : http(503)), { readOnly: true });
    const model = scriptedModel([{ toolCalls: [{ name: 'fetch' }] }, { text: 'done' }]);
    const worker = agent({ name: 'worker', model, tools: [busy] });
    const make = () => runtime({ app: 'restarting', store, ports: { clock }, recover: 'manual', runnables: [worker] });
    const running = make().run(worker, { input: 'Go', session: 's', runId: 'run' });
    let isOver = false;
    running
      .then(undefined, () => undefined)
      .then(() => {
        isOver = true;
      });
    await eventually(() => busy.runs.length === 2, { what: 'the second attempt', clock });
    running.stop();
    await eventually(() => isOver, { what: 'the end of the first process', clock });
    const { session } = await finished(make().resume('s'), clock);
    expect(story(session.events)).toEqual(['again after 1000', 'again after 0', 'again after 2000', 'closed']);
  });
});

describe('a fallback tool', () => {
  const archive = (execute: (args: unknown) => unknown = () => 'from the archive', more: Options = {}) =>
    tool({
      name: 'archive',
      description: 'Old pages',
      schema: z.object({ url: z.string() }),
      execute: ({ args }) => execute(args),
      ...(more as object),
    });
  const args = (given: unknown) => ({ url: `archive:${(given as { page: string }).page}` });
  const straight = { supervision: { errors: { chains: { http_403: ['fallbackTool', 'report'] as const } } } };
  const blocked = (more: Options = {}) => failing(() => http(403), { fallback: { tool: 'archive', args }, ...more });

  test('is run when the chain comes to it; its result is that of the call that was asked for', async () => {
    const seen: unknown[] = [];
    const old = archive((given) => {
      seen.push(given);
      return 'old page';
    });
    const { events } = await play({ tools: [blocked(), old], calls: ['fetch', 'fetch'] });
    expect(story(events)).toEqual(['hint', 'then archive', 'success']);
    expect(seen).toEqual([{ url: 'archive:a' }]);
    expect(eventsOf(events, 'tool_attempt').map(({ tool: name, attempt }) => [name, attempt])).toEqual([
      [undefined, 1],
      [undefined, 1],
      ['archive', 2],
    ]);
    expect(eventsOf(events, 'tool_result').at(-1)).toMatchObject({ name: 'fetch', settled: true, result: { content: 'old page' } });
    const keys = eventsOf(events, 'tool_attempt').map(({ key }) => key);
    expect(new Set(keys).size).toBe(3);
  });

  test('that fails too goes by its own chain, and by its own retries', async () => {
    const old = archive(() => Promise.reject(http(404)));
    const { events } = await play({ tools: [blocked(), old], calls: ['fetch', 'fetch'] });
    expect(story(events)).toEqual(['hint', 'then archive', 'hint']);
    expect(decided(events, 'error_router').at(-1)).toMatchObject({ decision: 'hint', data: { tool: 'archive', errorType: 'http_404' } });
    let runs = 0;
    const flaky = archive(() => (++runs < 3 ? toolResult.transient('busy') : 'got it'), { retry: { initialDelayMs: 5, backoffMultiplier: 1 } });
    const retried = await play({ tools: [blocked(), flaky], calls: ['fetch', 'fetch'] });
    expect(story(retried.events)).toEqual(['hint', 'then archive', 'again after 5', 'again after 5', 'success']);
  });

  test('that is not there is passed over; one whose arguments do not fit leaves the failure as it was', async () => {
    const alone = await play({ tools: [blocked()], calls: ['fetch', 'fetch'] });
    expect(story(alone.events)).toEqual(['hint', 'closed']);
    const misfit = await play({ tools: [failing(() => http(403), { fallback: 'archive' }), archive()], calls: ['fetch', 'fetch'] });
    expect(story(misfit.events)).toEqual(['hint', 'then archive', 'hint']);
    expect(eventsOf(misfit.events, 'tool_result').at(-1)).toMatchObject({ attempt: 0, result: { errorType: 'http_403' } });
    expect(decided(misfit.events, 'error_router').at(-1)).toMatchObject({ decision: 'report', reasoning: expect.stringContaining('do not fit') });
  });

  test('asks for its own approval, and needs its own permissions', async () => {
    const asked = await play({ tools: [blocked(), archive(undefined, { approval: true })], calls: ['fetch', 'fetch'] });
    expect(asked.result).toMatchObject({ status: 'yielded', pendingApprovals: [{ name: 'archive', args: { url: 'archive:a' } }] });
    const denied = await play({ tools: [blocked(), archive(undefined, { requiresPermission: ['archive:read'] })], calls: ['fetch', 'fetch'] });
    expect(eventsOf(denied.events, 'tool_result').at(-1)).toMatchObject({ result: { errorType: 'permission_denied' } });
    const allowed = { tools: [blocked(), archive(undefined, { requiresPermission: ['archive:read'] })], runtime: { permissions: ['archive:*'] } };
    expect(story((await play({ ...allowed, calls: ['fetch', 'fetch'] })).events).at(-1)).toBe('success');
  });

  test('an approval of the tool that was asked for is none for the tool that stands in', async () => {
    const clock = testClock();
    const app = runtime({ app: 'asking', ports: { clock } });
    const page = blocked({ approval: true });
    const model = scriptedModel([{ toolCalls: [{ name: 'fetch', args: { page: 'a' } }] }, { text: 'done' }]);
    const worker = agent({ name: 'worker', model, tools: [page, archive(undefined, { approval: true })], ...straight });
    const first = await finished(app.run(worker, 'Go'), clock);
    expect(first.pendingApprovals).toMatchObject([{ name: 'fetch' }]);
    await app.approve(first.pendingApprovals[0]?.requestId ?? '');
    const second = await finished(app.resume(first.session), clock);
    expect(second.pendingApprovals).toMatchObject([{ name: 'archive', args: { url: 'archive:a' } }]);
    await app.approve(second.pendingApprovals[0]?.requestId ?? '');
    const third = await finished(app.resume(first.session), clock);
    expect(third.output).toBe('done');
    expect(story(third.session.events)).toEqual(['then archive', 'success']);
    expect(page.runs).toEqual([1]);
  });

  test.each<['rerun' | 'report', number, string]>([
    ['rerun', 2, 'success'],
    ['report', 1, 'plain'],
  ])('a restart in its attempt goes on with it, by its own recovery: %s', async (recovery, times, end) => {
    const clock = testClock();
    const store = lasting(memoryStore({ clock }));
    let entered = 0;
    const old = archive(() => (++entered === 1 ? new Promise(() => undefined) : 'old page'), { recovery });
    const model = scriptedModel((prompt) =>
      prompt.some(({ role }) => role === 'tool') ? { text: 'done' } : { toolCalls: [{ name: 'fetch', args: { page: 'a' } }] },
    );
    const page = blocked();
    const worker = agent({ name: 'worker', model, tools: [page, old], ...straight });
    const make = () => runtime({ app: 'restarting', store, ports: { clock }, recover: 'manual', runnables: [worker] });
    const first = make();
    const running = first.run(worker, { input: 'Go', session: 's', runId: 'run' });
    running.then(undefined, () => undefined);
    await eventually(() => entered === 1);
    let isOver = false;
    running.stop();
    running
      .then(undefined, () => undefined)
      .then(() => {
        isOver = true;
      });
    await eventually(() => clock.advance(100) === undefined && isOver, { what: 'the end of the first process' });
    const { session } = await finished(make().resume('s'), clock);
    expect(page.runs).toEqual([1]);
    expect(entered).toBe(times);
    expect(story(session.events).at(-1)).toBe(end);
    expect(eventsOf(session.events, 'tool_attempt').map(({ tool: name }) => name)).toEqual([undefined, ...Array(times).fill('archive')]);
  });
});

describe('escalation', () => {
  const how = () => new ToolFailure('The vault is locked.', { errorType: 'locked' });
  const to = (escalate: 'caller' | 'human' | 'failures') => ({ supervision: { errors: { chains: { locked: [{ escalate }] } } } });

  test('to the caller: the agent ends with what was tried', async () => {
    const { result, events } = await play({ tools: [failing(how)], calls: ['fetch'], agent: to('caller') });
    expect(result).toMatchObject({ status: 'error', error: { code: 'escalated', data: { tool: 'fetch', errorType: 'locked' } } });
    expect(eventsOf(events, 'tool_result')).toMatchObject([{ settled: true, result: { escalate: true, escalation: expect.any(String) } }]);
  });

  test.each<['retry' | 'succeeded' | 'report', string, readonly string[]]>([
    ['retry', 'done', ['again after 0', 'success']],
    ['succeeded', 'done', ['success']],
    ['report', 'done', ['plain']],
  ])('to a person, who says: %s', async (decision, output, expected) => {
    const clock = testClock();
    const app = runtime({ app: 'asking', ports: { clock } });
    const vault = failing(how, { times: 1 });
    const model = scriptedModel([{ toolCalls: [{ name: 'fetch' }] }, { text: 'done' }]);
    const worker = agent({ name: 'worker', model, tools: [vault], ...to('human') });
    const asked = await finished(app.run(worker, 'Go'), clock);
    expect(asked).toMatchObject({ status: 'yielded', pendingCalls: [{ kind: 'recovery', request: { options: ['succeeded', 'retry', 'report'] } }] });
    await app.answer(asked.pendingCalls[0]?.requestId ?? '', { decision, ...(decision === 'succeeded' ? { input: 'opened by hand' } : {}) });
    const { session, output: answer } = await finished(app.resume(asked.session), clock);
    expect(answer).toBe(output);
    expect(story(session.events)).toEqual(expected);
    if (decision === 'report')
      expect(eventsOf(session.events, 'tool_result').at(-1)?.result).toMatchObject({ errorType: 'locked', content: 'The vault is locked.' });
    expect(decided(session.events, 'error_router')[0]).toMatchObject({ decision: 'escalate', data: { escalateTo: 'human' } });
  });

  test('to the list of failures: the agent goes on, and the session has it', async () => {
    const { result, events } = await play({ tools: [failing(how)], calls: ['fetch'], agent: to('failures') });
    expect(result).toMatchObject({ status: 'completed', output: 'done' });
    expect(eventsOf(events, 'error')).toMatchObject([{ phase: 'escalation', error: { code: 'escalated', data: { errorType: 'locked' } } }]);
  });

  test('a result that asks for it is handed up at once', async () => {
    const asks = failing(() => toolResult.transient('busy', { escalate: true, escalation: 'I tried all three servers.' }));
    const { result } = await play({ tools: [asks], calls: ['fetch'] });
    expect(asks.runs).toEqual([1]);
    expect(result.error).toMatchObject({ code: 'escalated', data: { tried: 'I tried all three servers.' } });
  });
});

describe('the circuit of a tool', () => {
  test('opens, lets one call through, and closes, over the runs of a runtime, and each change is on record', async () => {
    const clock = testClock();
    const app = runtime({ app: 'circuits', ports: { clock }, supervision: { circuitBreaker: { failures: 3, resetAfter: 60_000 } } });
    let isUp = false;
    const page = failing(() => (isUp ? 'the page' : http(503)), { readOnly: true });
    const call = { toolCalls: [{ name: 'fetch' }] };
    const worker = agent({
      name: 'worker',
      model: scriptedModel([call, call, { text: 'a' }, call, { text: 'b' }, call, { text: 'c' }, call, { text: 'd' }]),
      tools: [page],
    });
    const changes = (events: Parameters<typeof decided>[0]) => decided(events, 'circuit_breaker').map(({ decision }) => decision);
    const first = await finished(app.run(worker, 'Go'), clock);
    expect(page.runs).toEqual([1, 2, 3]);
    expect(changes(first.session.events)).toEqual(['open', 'refuse']);
    expect(eventsOf(first.session.events, 'tool_result').at(-1)).toMatchObject({ attempt: 0, result: { errorType: 'circuit_open' } });
    // Another session of the runtime: its tool is still left alone.
    const second = await finished(app.run(worker, 'Go'), clock);
    expect(changes(second.session.events)).toEqual(['refuse']);
    clock.advance(60_000);
    const third = await finished(app.run(worker, { input: 'Go', session: second.session }), clock);
    expect(changes(third.session.events).slice(1, 3)).toEqual(['half_open', 'open']);
    isUp = true;
    clock.advance(60_000);
    const fourth = await finished(app.run(worker, 'Go'), clock);
    expect(changes(fourth.session.events)).toEqual(['half_open', 'close']);
    expect(decided(fourth.session.events, 'circuit_breaker')[1]).toMatchObject({
      reasoning: expect.stringContaining('works again'),
      alternatives: expect.any(Array),
      data: { tool: 'fetch', failures: 4 },
    });
  });

  test("stays closed for failures that are not the tool's, and for an agent that does without", async () => {
    for (const how of [() => http(404), () => http(403), () => http(429), () => new Error('no such order')]) {
      const pages = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((page) => ({ name: 'fetch', args: { page } }));
      expect(decided((await play({ tools: [failing(how)], calls: pages })).events, 'circuit_breaker')).toEqual([]);
    }
    const many = Array.from({ length: 4 }, (_, index) => ({ name: 'fetch', args: { page: index } }));
    const broken = failing(() => http(500), { readOnly: true });
    const without = await play({ tools: [broken], calls: many, agent: { supervision: { circuitBreaker: false } } });
    expect(decided(without.events, 'circuit_breaker')).toEqual([]);
    expect(broken.runs).toHaveLength(12);
  });

  test('that is open lets the fallback tool stand in', async () => {
    const other = tool({ name: 'other', description: 'x', schema: z.looseObject({}), execute: () => 'from the other' });
    const broken = failing(() => http(500), { readOnly: true, fallback: 'other' });
    const { events } = await play({
      tools: [broken, other],
      calls: ['fetch', 'fetch'],
      runtime: { supervision: { circuitBreaker: { failures: 2 } } },
    });
    expect(story(events)).toEqual(['again after 1000', 'again after 2000', 'then other', 'success', 'then other', 'success']);
    expect(broken.runs).toEqual([1, 2]);
  });
});

describe('permissions', () => {
  const guarded = () => failing(() => 'written', { requiresPermission: ['fs:write', 'fs:read'] });

  test('that are missing refuse the call before anything else, with a decision; those that are there do not', async () => {
    const refused = guarded();
    const { events } = await play({ tools: [refused], calls: ['fetch'], runtime: { permissions: ['fs:read'] } });
    expect(refused.runs).toEqual([]);
    expect(eventsOf(events, 'tool_result')).toMatchObject([{ attempt: 0, result: { status: 'error_blocked', errorType: 'permission_denied' } }]);
    expect(decided(events, 'permissions')).toMatchObject([{ decision: 'refuse', data: { tool: 'fetch', missing: ['fs:write'] } }]);
    const allowed = guarded();
    await play({ tools: [allowed], calls: ['fetch'], runtime: { permissions: ['fs:*'] } });
    expect(allowed.runs).toEqual([1]);
  });

  test('hold also where supervision is off', async () => {
    const refused = guarded();
    await play({ tools: [refused], calls: ['fetch'], agent: { supervision: false } });
    expect(refused.runs).toEqual([]);
  });
});
