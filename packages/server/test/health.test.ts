import { readFileSync } from 'node:fs';
import { agent, memoryStore, runtime, type Store, step, tool } from 'adjutant';
import { eventually, roundModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { server } from '../src/index.ts';
import { bearer, send, tokenAuth, waitingServer } from './approvals/paying-app.ts';

const look = tool({
  name: 'look',
  description: 'Looks',
  schema: z.object({}),
  execute: () => 'seen',
});
const fail = tool({
  name: 'fail',
  description: 'Fails',
  schema: z.object({}),
  execute: () => Promise.reject(new Error('no')),
});
const clerk = agent({
  name: 'clerk',
  model: roundModel(
    [
      {
        toolCalls: [{ name: 'look' }, { name: 'fail' }, { name: 'made_up' }],
        usage: { inputTokens: 4, outputTokens: 2 },
      },
      { text: 'Hello.', usage: { inputTokens: 3, outputTokens: 1 } },
    ],
    { contextWindow: 2_000 },
  ),
  tools: [look, fail],
  supervision: { errors: false },
});

/** A store whose lists are what is given. */
function withLists(store: Store, list: () => Promise<never[]>): Store {
  return {
    ...store,
    for: (scope) =>
      new Proxy(store.for(scope), {
        get: (target, name) =>
          name === 'list' ? list : (Reflect.get(target, name) as () => unknown).bind(target),
      }),
  };
}

describe('health', () => {
  test('says that the process lives, to anybody', async () => {
    const clock = testClock();
    const app = runtime({ app: 'shop', runnables: [clerk] });
    const api = server(app, { ...tokenAuth, ports: { clock } });
    clock.advance(61_500);
    const { version } = JSON.parse(
      readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
    );
    expect(await send(api, 'GET', '/v1/health')).toMatchObject({
      status: 200,
      body: { status: 'ok', version, uptime: 61 },
    });
  });

  test('is readiness when the store answers', async () => {
    const api = server(
      runtime({ app: 'shop', store: memoryStore(), recover: 'manual' }),
      tokenAuth,
    );
    expect(await send(api, 'GET', '/v1/ready')).toMatchObject({
      status: 200,
      body: { status: 'ready', store: 'ok', closing: false, deltas: 'process' },
    });
    await api.close();
    expect(await send(api, 'GET', '/v1/ready')).toMatchObject({
      status: 503,
      body: { status: 'not_ready', store: 'ok', closing: true },
    });
  });

  test('says whether deltas reach other processes', async () => {
    const pubsub = {
      publish: async () => undefined,
      subscribe: async () => async () => undefined,
      close: async () => undefined,
    };
    const api = server(runtime({ app: 'shop', store: memoryStore(), recover: 'manual', pubsub }));
    expect((await send(api, 'GET', '/v1/ready')).body.deltas).toBe('everywhere');
  });

  test(
    'is not readiness when the store fails or hangs, and is again when it ' + 'comes back',
    async () => {
      const clock = testClock();
      let asked = 0;
      let answer: () => Promise<never[]> = () =>
        Promise.reject(new Error('no connection to postgres://user:pass@host'));
      const store = withLists(memoryStore({ clock }), () => {
        asked += 1;
        return answer();
      });
      const api = server(runtime({ app: 'shop', store, recover: 'manual', ports: { clock } }), {
        ports: { clock },
      });
      const failed = await send(api, 'GET', '/v1/ready');
      expect(failed).toMatchObject({
        status: 503,
        body: { status: 'not_ready', store: 'unavailable' },
      });
      expect(JSON.stringify(failed.body)).not.toContain('postgres');
      // Frequent requests do not keep the store busy.
      await Promise.all(Array.from({ length: 20 }, () => send(api, 'GET', '/v1/ready')));
      expect(asked).toBe(1);
      clock.advance(1_000);
      answer = () => new Promise(() => undefined);
      const hanging = send(api, 'GET', '/v1/ready');
      expect((await eventually(hanging, { clock })).status).toBe(503);
      clock.advance(1_000);
      answer = async () => [];
      expect((await send(api, 'GET', '/v1/ready')).status).toBe(200);
    },
  );
});

/** The value of a metric. */
function metric(text: string, name: string, ...labels: string[]): number | undefined {
  const line = text
    .split('\n')
    .find(
      (candidate) =>
        candidate.startsWith(name) && labels.every((label) => candidate.includes(label)),
    );
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}

async function metricsOf(api: ReturnType<typeof server>): Promise<string> {
  const { status, headers, text } = await send(api, 'GET', '/v1/metrics');
  expect([status, headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  return text;
}

describe('metrics', () => {
  test('tell whether the engine keeps runs moving', async () => {
    const app = runtime({ app: 'shop', runnables: [clerk] });
    const api = server(app);
    const text = await metricsOf(api);
    expect(metric(text, 'adjutant_engine_up', 'engine="embedded"')).toBe(1);
    expect(metric(text, 'adjutant_engine_waiting_wakes', 'engine="embedded"')).toBe(0);
    await app.close();
    expect(metric(await metricsOf(api), 'adjutant_engine_up', 'engine="embedded"')).toBe(0);
  });

  test('count requests by the patterns of their routes', async () => {
    const { api } = await waitingServer();
    await send(api, 'GET', '/v1/approvals/req_1');
    await send(api, 'GET', '/v1/approvals/req_2');
    await send(api, 'GET', '/v1/approvals');
    await send(api, 'GET', '/made/up/path');
    await send(api, 'GET', '/approve/s3cret-token');
    await api.fetch(new Request('http://localhost/v1/approvals', { method: 'MADEUP' }));
    const text = await metricsOf(api);
    const counted = (...labels: string[]) =>
      metric(text, 'adjutant_http_requests_total', ...labels);
    expect(counted('route="/v1/approvals/{request}"', 'status="404"')).toBe(2);
    expect(counted('route="/v1/approvals"', 'method="GET"', 'status="200"')).toBe(1);
    expect(counted('route="/approve/{token}"', 'status="404"')).toBe(1);
    expect(counted('method="GET"', 'route="none"')).toBe(1);
    expect(
      metric(
        text,
        'adjutant_http_request_duration_seconds_count',
        'route="/v1/approvals/{request}"',
      ),
    ).toBe(2);
    for (const absent of ['req_1', 's3cret', '/made', 'MADEUP']) expect(text).not.toContain(absent);
  });

  test('count what waits, runs and tokens', async () => {
    const { api } = await waitingServer({ payments: [{ cents: 1 }, { cents: 2 }] });
    expect(metric(await metricsOf(api), 'adjutant_requests_waiting', 'kind="approval"')).toBe(2);
    const helper = runtime({ app: 'shop', runnables: [clerk] });
    const other = server(helper);
    const { body } = await send(other, 'POST', '/v1/runs', { agent: 'clerk', input: 'Hi' });
    await send(other, 'GET', `/v1/sessions/${body.session}/runs/${body.id}?wait=10000`);
    const ended = async (): Promise<string> => {
      const text = await metricsOf(other);
      return metric(text, 'adjutant_runs_ended_total', 'agent="clerk"', 'status="completed"') === 1
        ? text
        : ended();
    };
    const text = await eventually(ended());
    expect(metric(text, 'adjutant_runs_started_total', 'agent="clerk"')).toBe(1);
    expect(metric(text, 'adjutant_model_tokens_total', 'direction="input"')).toBe(7);
    expect(metric(text, 'adjutant_model_tokens_total', 'direction="output"')).toBe(3);
    expect(metric(text, 'adjutant_run_duration_seconds_count', 'agent="clerk"')).toBe(1);
    expect(metric(text, 'adjutant_tool_calls_total', 'tool="look"', 'outcome="success"')).toBe(1);
    expect(metric(text, 'adjutant_tool_calls_total', 'tool="fail"', 'outcome="failure"')).toBe(1);
    const agentOf = 'agent="clerk"';
    expect(metric(text, 'adjutant_round_duration_seconds_count', agentOf)).toBe(2);
    expect(metric(text, 'adjutant_context_window_ratio_count', agentOf)).toBe(2);
    expect(metric(text, 'adjutant_context_window_ratio_sum', agentOf)).toBeCloseTo(0.0035, 6);
    // Models can make up as many names as they like.
    expect(text).not.toContain('made_up');
    // Servers of one process do not mix.
    expect(
      metric(await metricsOf(api), 'adjutant_runs_started_total', 'agent="clerk"'),
    ).toBeUndefined();
  });

  test('count what this process does of runs that began elsewhere, and that it found', async () => {
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: z.object({}),
      approval: true,
      execute: () => 'paid',
    });
    const payer = agent({
      name: 'payer',
      model: roundModel([
        { toolCalls: [{ name: 'pay' }], usage: { inputTokens: 4, outputTokens: 2 } },
        { text: 'Paid.', usage: { inputTokens: 7, outputTokens: 1 } },
      ]),
      tools: [pay],
    });
    const store = memoryStore();
    const make = () => runtime({ app: 'shop', store, recover: 'manual', runnables: [payer] });
    const first = make();
    const { pendingCalls } = await first.run(payer, 'Pay');
    await first.requests.approve(pendingCalls[0]?.requestId as string, { by: 'user:ann' });
    const second = make();
    const api = server(second);
    const ofPayer = async (name: string, ...labels: string[]) =>
      metric(await metricsOf(api), name, 'agent="payer"', ...labels);
    expect(await ofPayer('adjutant_runs_continued_total')).toBeUndefined();
    const [run] = await second.recovery.resumeStopped();
    expect((await run)?.status).toBe('completed');
    expect(await ofPayer('adjutant_runs_started_total')).toBeUndefined();
    expect(await ofPayer('adjutant_runs_continued_total', 'by="recovery"')).toBe(1);
    expect(await ofPayer('adjutant_runs_ended_total', 'status="completed"')).toBe(1);
    expect(await ofPayer('adjutant_run_duration_seconds_count')).toBe(1);
    // The first call of the model was another process's.
    expect(await ofPayer('adjutant_model_tokens_total', 'direction="input"')).toBe(7);
    expect(await ofPayer('adjutant_tool_calls_total', 'outcome="success"')).toBe(1);
    expect(await ofPayer('adjutant_round_duration_seconds_count')).toBe(1);
    await api.close();
    await second.run(payer, 'Pay');
    expect(await ofPayer('adjutant_runs_started_total')).toBeUndefined();
  });

  test('count runs that could not be carried out', async () => {
    const idle = step({
      name: 'idle',
      execute: async (ctx) => ctx.complete(await ctx.ask('which', 'Which one?')),
    });
    const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk, idle] });
    const api = server(app);
    await app.run(idle, { session: 's' });
    const body = { agent: 'clerk', session: 's', input: 'Hi' };
    expect((await send(api, 'POST', '/v1/runs', body)).status).toBe(409);
    const text = await metricsOf(api);
    const ended = (...labels: string[]) => metric(text, 'adjutant_runs_ended_total', ...labels);
    expect(ended('agent="clerk"', 'status="rejected"')).toBe(1);
    expect(ended('agent="idle"', 'status="yielded"')).toBe(1);
    expect(metric(text, 'adjutant_runs_started_total', 'agent="clerk"')).toBeUndefined();
  });

  test('show the circuits of tools that are left alone, until they work again', async () => {
    const clock = testClock();
    let isUp = false;
    const page = tool({
      name: 'page',
      description: 'Fetches',
      schema: z.object({}),
      execute: () => {
        if (!isUp) throw Object.assign(new Error('HTTP 503'), { status: 503 });
        return 'the page';
      },
    });
    const reader = agent({
      name: 'reader',
      model: roundModel([{ toolCalls: [{ name: 'page' }] }, { text: 'Done.' }]),
      tools: [page],
    });
    const app = runtime({
      app: 'shop',
      runnables: [reader],
      ports: { clock },
      supervision: { circuitBreaker: { failures: 1, resetAfterMs: 60_000 } },
    });
    const api = server(app);
    const open = async (state: string) =>
      metric(await metricsOf(api), 'adjutant_circuits_open', 'tool="page"', `state="${state}"`);
    expect(await open('open')).toBeUndefined();
    await eventually(app.run(reader, 'Go'), { clock });
    expect([await open('open'), await open('half_open')]).toEqual([1, undefined]);
    clock.advance(60_000);
    expect([await open('open'), await open('half_open')]).toEqual([undefined, 1]);
    isUp = true;
    await eventually(app.run(reader, 'Go'), { clock });
    expect([await open('open'), await open('half_open')]).toEqual([undefined, undefined]);
  });

  test('are there also when the store is not', async () => {
    const store = memoryStore();
    const api = server(runtime({ app: 'shop', store, recover: 'manual' }));
    await store.close();
    expect(metric(await metricsOf(api), 'adjutant_http_requests_total')).toBeUndefined();
    expect(metric(await metricsOf(api), 'adjutant_http_requests_total', 'status="200"')).toBe(1);
  });

  test('have those of the process', async () => {
    const { api } = await waitingServer();
    const text = await metricsOf(api);
    for (const name of [
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_seconds',
      'process_cpu_seconds_total',
    ])
      expect(text).toContain(name);
    expect(await metricsOf(api)).toContain('nodejs_heap_size_used_bytes');
  });

  test('are for who may see all of the process', async () => {
    const { api } = await waitingServer({ server: tokenAuth });
    const statusFor = async (claims: Parameters<typeof bearer>[0]) =>
      (await send(api, 'GET', '/v1/metrics', undefined, await bearer(claims))).status;
    expect((await send(api, 'GET', '/v1/metrics')).status).toBe(401);
    expect(await statusFor({ sub: 'a', roles: ['viewer'] })).toBe(200);
    expect(await statusFor({ sub: 'a', roles: [] })).toBe(403);
    expect(await statusFor({ sub: 'a', user: 'ann' })).toBe(403);
    expect(await statusFor({ sub: 'a', agents: ['payer'] })).toBe(403);
  });
});
