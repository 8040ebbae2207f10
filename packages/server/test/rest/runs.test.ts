import {
  agent,
  memoryStore,
  runtime,
  type Store,
  sequence,
  step,
  tool,
  toolResult,
} from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { callerOf, callerTo } from './caller.ts';
import { stores } from './stores.ts';
import { working } from './working-run.ts';

test('a store that cannot find the session of a run says where to ask', async () => {
  const store = memoryStore();
  const without: Store = {
    ...store,
    for: (scope) =>
      new Proxy(store.for(scope), {
        get: (target, name) => {
          if (name === 'sessionsOfRun') return undefined;
          const member = Reflect.get(target, name) as unknown;
          return typeof member === 'function' ? (member.bind(target) as unknown) : member;
        },
      }),
  };
  const { get, post } = working(without);
  const { id } = (await post('/v1/runs', { agent: 'quick', input: 'Hi' })).body;
  expect(await get(`/v1/runs/${id}`)).toMatchObject({
    status: 501,
    body: {
      code: 'run_lookup_unavailable',
      detail: expect.stringContaining('/v1/sessions/{session}/runs/{run}'),
    },
  });
});

describe.each(stores)('runs on %s', (_name, makeStore) => {
  test(
    'are not started with what looks like a reference to a large value, which may be of ' +
      'another user',
    async () => {
      const { app, post } = working(makeStore());
      const reference = {
        $blob: 'a'.repeat(64),
        hash: 'b'.repeat(64),
        size: 70_000,
        preview: 'what ann',
      };
      const refused = await post('/v1/runs', {
        agent: 'quick',
        input: 'Hi',
        data: { deep: [{ reference }] },
      });
      expect(refused.status).toBe(400);
      expect(refused.body).toMatchObject({
        code: 'invalid_request',
        detail: expect.stringContaining('$blob'),
      });
      expect((await app.sessions.list()).sessions).toEqual([]);
    },
  );

  test('are found by their ids alone once they have begun', async () => {
    const { get, post, goOn } = working(makeStore());
    const { id, session } = (await post('/v1/runs', { agent: 'quick', input: 'Hi' })).body;
    const found = await get(`/v1/runs/${id}?wait=10000`);
    expect(found).toMatchObject({ status: 200, body: { id, session, status: 'completed' } });
    expect(found.body).toEqual((await get(`/v1/sessions/${session}/runs/${id}`)).body);
    goOn();
    const named = { agent: 'slow', id: 'mine' };
    const sessions: string[] = [];
    for (const _ of [1, 2]) {
      const { body } = await post('/v1/runs', named);
      sessions.push(body.session);
      await get(`/v1/sessions/${body.session}/runs/mine?wait=10000`);
    }
    const ambiguous = await get('/v1/runs/mine');
    expect(ambiguous).toMatchObject({ status: 409, body: { code: 'run_ambiguous' } });
    const { data } = ambiguous.body as unknown as { data: { sessions: string[] } };
    expect(data.sessions.toSorted()).toEqual(sessions.toSorted());
    expect(await get('/v1/runs/other')).toMatchObject({
      status: 404,
      body: { code: 'run_not_found' },
    });
    expect((await get('/v1/runs/mine?wait=never')).status).toBe(400);
  });

  test('say the confidence in their output, alone and in lists, as results do', async () => {
    const search = tool({
      name: 'search',
      description: 'Searches',
      schema: z.object({}),
      execute: () => toolResult.success('Perhaps.', { confidence: 0.4 }),
    });
    const doubtful = agent({
      name: 'doubtful',
      model: roundModel([{ toolCalls: [{ name: 'search' }] }, { text: 'Perhaps.' }]),
      tools: [search],
    });
    const large = step({
      name: 'large',
      execute: (ctx) => ctx.complete({ confidence: 0.3, text: 'x'.repeat(100_000).split('') }),
    });
    const both = sequence({ name: 'both', runnables: [large, doubtful] });
    const sure = agent({ name: 'sure', model: roundModel([{ text: 'Yes.' }]) });
    const runnables = [doubtful, both, sure];
    const { get, post } = callerOf(runtime({ app: 'shop', store: makeStore(), runnables }));
    const expected = { doubtful: 0.4, both: 0.3, sure: undefined };
    for (const [name, confidence] of Object.entries(expected)) {
      const { session, links } = (await post('/v1/runs', { agent: name, input: 'Go' })).body;
      const { body } = await get(`${links['run']}?wait=10000`);
      expect(body).toMatchObject({ status: 'completed' });
      expect(body.confidence).toBe(confidence);
      const { runs } = (await get(`/v1/sessions/${session}/runs`)).body;
      expect(runs[0]?.confidence).toBe(confidence);
    }
  });

  test('are started in new sessions, go on by themselves and tell how they ended', async () => {
    const { get, post } = working(makeStore());
    const started = await post('/v1/runs', { agent: 'quick', input: 'Hi', user: 'ann' });
    const { session, id, links } = started.body;
    expect(started.status).toBe(202);
    expect(started.headers.get('location')).toBe(`/v1/sessions/${session}/runs/${id}`);
    expect(links).toMatchObject({
      run: started.headers.get('location'),
      session: `/v1/sessions/${session}`,
    });
    const ended = await get(`${links['run']}?wait=20000`);
    expect(ended.body).toMatchObject({
      id,
      session,
      agent: 'quick',
      kind: 'agent',
      status: 'completed',
      output: 'Hello.',
      calls: 1,
      requests: [],
    });
    expect((await get(`/v1/sessions/${session}`)).body).toMatchObject({
      user: 'ann',
      status: 'completed',
      title: 'Hi',
    });
    expect((await get(links['events'] ?? '')).status).toBe(200);
  });

  test('under one id are started once', async () => {
    const { get, post } = working(makeStore());
    await post('/v1/sessions', { id: 's' });
    for (let times = 0; times < 3; times++)
      expect(
        (await post('/v1/sessions/s/runs', { agent: 'quick', input: 'Hi', id: 'r' })).status,
      ).toBe(202);
    await get('/v1/sessions/s/runs/r?wait=20000');
    expect((await get('/v1/sessions/s/runs')).body.runs).toMatchObject([
      { id: 'r', status: 'completed' },
    ]);
  });

  test('are looked at while they work, waited for, and busy for others', async () => {
    const { get, post, begun, goOn } = working(makeStore());
    await post('/v1/sessions', { id: 's' });
    await post('/v1/sessions/s/runs', { agent: 'slow', id: 'r' });
    await begun;
    expect((await get('/v1/sessions/s/runs/r')).body).toMatchObject({
      status: 'running',
      agent: 'slow',
      kind: 'step',
    });
    expect(await post('/v1/sessions/s/runs', { agent: 'quick', input: 'Hi' })).toMatchObject({
      status: 409,
      body: { code: 'session_busy' },
    });
    const waiting = get('/v1/sessions/s/runs/r?wait=60000');
    goOn();
    expect((await waiting).body).toMatchObject({ status: 'completed', output: 'done' });
  });

  test(
    'that wait for somebody are told at once, with what they ask, and go on after ' + 'the answer',
    async () => {
      const { get, post } = working(makeStore());
      const { links } = (await post('/v1/runs', { agent: 'asking', input: 'Pay' })).body;
      const waiting = await get(`${links['run']}?wait=20000`);
      expect(waiting.body).toMatchObject({
        status: 'waiting',
        waitsFor: 'tool_input',
        requests: [{ kind: 'approval', name: 'pay', status: 'pending' }],
      });
      expect((await get(links['session'] ?? '')).body).toMatchObject({
        waiting: 1,
        status: 'awaiting_input',
      });
      await post(`/v1/approvals/${waiting.body.requests[0]?.requestId}`, { decision: 'approve' });
      // An answered question is no longer waited for.
      expect((await get(`${links['run']}?wait=20000`)).body).toMatchObject({
        status: 'completed',
        output: 'Paid.',
      });
    },
  );

  test('that cannot begin write nothing', async () => {
    const { get, post } = working(makeStore());
    await post('/v1/sessions', { id: 's' });
    const before = (await get('/v1/sessions/s/events')).body;
    const refused: readonly (readonly [object, number, string])[] = [
      [{ agent: 'typed', data: { cents: 'many' } }, 400, 'invalid_input'],
      [{ agent: 'quikc', input: 'Hi' }, 404, 'agent_not_found'],
      [{ agent: 'quick', input: 5 }, 400, 'invalid_request'],
      [{ agent: 'quick', id: 'a/b' }, 400, 'invalid_request'],
      [{ agent: 'quick', id: '..' }, 400, 'invalid_request'],
      [{ input: 'Hi' }, 400, 'invalid_request'],
    ];
    for (const [body, status, code] of refused) {
      expect(await post('/v1/sessions/s/runs', body)).toMatchObject({ status, body: { code } });
      expect(await post('/v1/runs', body)).toMatchObject({ status, body: { code } });
    }
    expect((await post('/v1/runs', { agent: 'quick', session: 's', user: 'ann' })).status).toBe(
      400,
    );
    expect((await post('/v1/runs', { agent: 'quick', session: 'nowhere' })).body.code).toBe(
      'session_not_found',
    );
    expect((await get('/v1/sessions/s/events')).body).toEqual(before);
    expect((await get('/v1/sessions')).body.sessions.map(({ id }) => id)).toEqual(['s']);
  });

  test('are given data that fits', async () => {
    const { get, post } = working(makeStore());
    const { links } = (await post('/v1/runs', { agent: 'typed', data: { cents: 5 } })).body;
    expect((await get(`${links['run']}?wait=20000`)).body.status).toBe('completed');
  });

  test('are listed newest first, by page', async () => {
    const { get, post } = working(makeStore());
    await post('/v1/sessions', { id: 's' });
    for (const id of ['a', 'b', 'c']) {
      await post('/v1/sessions/s/runs', { agent: 'quick', input: 'Hi', id });
      await get(`/v1/sessions/s/runs/${id}?wait=20000`);
    }
    const first = (await get('/v1/sessions/s/runs?limit=2')).body;
    expect(first.runs.map(({ id }) => id)).toEqual(['c', 'b']);
    const second = (await get(`/v1/sessions/s/runs?limit=2&cursor=${first.cursor}`)).body;
    expect([second.runs.map(({ id }) => id), second.cursor]).toEqual([['a'], undefined]);
  });

  test('are found by the id of an input that an open run took', async () => {
    const { get, post, begun, goOn } = working(makeStore());
    await post('/v1/sessions', { id: 's' });
    await post('/v1/sessions/s/runs', { agent: 'slow', id: 'r' });
    await begun;
    const { body } = await post('/v1/sessions/s/runs', {
      agent: 'slow',
      input: 'More',
      id: 'more',
    });
    expect(body).toMatchObject({
      id: 'r',
      asked: 'more',
      links: { run: '/v1/sessions/s/runs/more' },
    });
    goOn();
    expect((await get('/v1/sessions/s/runs/more?wait=20000')).body.status).toBe('completed');
  });
});

describe('waiting for a run', () => {
  test('ends when its time is over', async () => {
    const { get, begun, goOn, post } = working(memoryStore());
    await post('/v1/sessions', { id: 's' });
    await post('/v1/sessions/s/runs', { agent: 'slow', id: 'r' });
    await begun;
    expect((await get('/v1/sessions/s/runs/r?wait=20')).body.status).toBe('running');
    goOn();
  });

  test('ends when the client goes away or the server closes, and the run goes on', async () => {
    const { app, api, get, post, begun, goOn } = working(memoryStore());
    await post('/v1/sessions', { id: 's' });
    await post('/v1/sessions/s/runs', { agent: 'slow', id: 'r' });
    await begun;
    const gone = new AbortController();
    const waiting = api.fetch(
      new Request('http://localhost/v1/sessions/s/runs/r?wait=60000', { signal: gone.signal }),
    );
    gone.abort();
    expect((await waiting).status).toBe(200);
    const held = get('/v1/sessions/s/runs/r?wait=60000');
    await api.close();
    expect((await held).body.status).toBe('running');
    goOn();
    const other = callerOf(app);
    expect((await other.get('/v1/sessions/s/runs/r?wait=20000')).body.status).toBe('completed');
  });

  test.each(['wait=-1', 'wait=60001', 'wait=soon'])('refuses %s', async (query) => {
    const { get } = callerOf(runtime({ app: 'shop' }));
    expect((await get(`/v1/sessions/s/runs/r?${query}`)).status).toBe(400);
  });
});

test('the start of a run streams it to those who accept a stream', async () => {
  const { api } = working(memoryStore());
  const stream = await callerTo(api).post(
    '/v1/runs',
    { agent: 'quick', input: 'Hi' },
    { accept: 'text/event-stream' },
  );
  expect([stream.status, stream.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  expect(stream.headers.get('location')).toMatch(/^\/v1\/sessions\/[^/]+\/runs\/[^/]+$/);
  expect(stream.text).toMatch(/event: assistant[\s\S]*event: end/);
});

test(
  'a start that is sent again under its key is one run, also when its ' + 'answer was lost',
  async () => {
    const { get, post } = working(memoryStore());
    const key = { 'idempotency-key': 'k1' };
    const first = await post('/v1/runs', { agent: 'quick', input: 'Hi' }, key);
    const again = await post('/v1/runs', { agent: 'quick', input: 'Hi' }, key);
    expect(again.body).toEqual(first.body);
    expect((await get('/v1/sessions')).body.sessions).toHaveLength(1);
  },
);
