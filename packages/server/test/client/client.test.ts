import { agent, isDurable, pending, type StreamEvent, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { client, isServerProblem } from '../../src/client/index.ts';
import { cuttingProxy } from './cutting-proxy.ts';
import { impatient, serving } from './serving.ts';

const refunds: string[] = [];
const refund = tool({
  name: 'refund',
  description: 'Refunds an order',
  schema: z.object({ order: z.string() }),
  approval: true,
  execute: ({ args }) => {
    refunds.push(args.order);
    return 'refunded';
  },
});
const film = tool({
  name: 'film',
  description: 'Makes a film',
  schema: z.object({ id: z.string() }),
  execute: ({ args }) => pending({ operationId: args.id }),
});

/**
 * Asks for leave to refund the order that it is told of, or begins a film; then says what came of
 * it.
 */
function clerk() {
  const model = scriptedModel(
    (prompt) => {
      const last = prompt.at(-1);
      if (last?.role === 'tool')
        return {
          text:
            'Done: ' +
            `${JSON.stringify(last.content.map((part) => ('output' in part ? part.output : part)))}`,
        };
      const text = JSON.stringify(last?.content);
      const order = /order (\w+)/.exec(text)?.[1];
      const filmId = /film (\w+)/.exec(text)?.[1];
      if (order !== undefined) return { toolCalls: [{ name: 'refund', args: { order } }] };
      return filmId === undefined
        ? { chunks: ['Hel', 'lo.'] }
        : { toolCalls: [{ name: 'film', args: { id: filmId } }] };
    },
    { record: false },
  );
  return agent({ name: 'clerk', model, tools: [refund, film] });
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('runs', () => {
  test('are started, awaited and followed', async () => {
    const { url } = await serving({ runnables: [clerk()] });
    const run = impatient(url).runs.start({ agent: 'clerk', input: 'Hi' });
    const events: StreamEvent[] = [];
    for await (const event of run) events.push(event);
    const { session, id } = await run.accepted();
    expect(await run).toMatchObject({
      id,
      session,
      status: 'completed',
      output: 'Hello.',
      agent: 'clerk',
    });
    expect(events.filter(isDurable).at(-1)).toMatchObject({
      type: 'invocation_end',
      invocationId: id,
    });
    expect(events.filter(isDurable)[0]).toMatchObject({ seq: 1 });
    // Another iteration begins anew.
    const again: StreamEvent[] = [];
    for await (const event of run) again.push(event);
    expect(again).toEqual(events.filter(isDurable));
  });

  test('are begun once, however often the answer to the start is lost', async () => {
    const { app, listening } = await serving({ runnables: [clerk()] });
    // The first answers are cut off in their heads, after the request has come through.
    const proxy = await cuttingProxy({
      target: () => listening.port,
      cutAfter: (connection) => (connection < 3 ? 20 : undefined),
    });
    const started = await impatient(proxy.url)
      .runs.start({ agent: 'clerk', input: 'Hi' })
      .accepted();
    expect(proxy.cuts).toBe(3);
    const { sessions } = await app.sessions.list();
    expect(sessions.map(({ id }) => id)).toEqual([started.session]);
    const { runs } = await impatient(listening.url).runs.list(started.session).page();
    expect(runs.map(({ id }) => id)).toEqual([started.id]);
  });

  test('that wait are answered, and go on; a second answer is refused', async () => {
    const { url } = await serving({ runnables: [clerk()] });
    const { runs, approvals } = impatient(url);
    const run = runs.start({ agent: 'clerk', input: 'Refund order o17' });
    const waiting = await run;
    expect(waiting).toMatchObject({
      status: 'waiting',
      waitsFor: 'tool_input',
      requests: [{ kind: 'approval', name: 'refund' }],
    });
    const requestId = waiting.requests[0]?.requestId as string;
    expect(await approvals.get(requestId)).toMatchObject({ requestId, status: 'pending' });
    const following = (async () => {
      const types: string[] = [];
      for await (const event of run) types.push(event.type);
      return types;
    })();
    expect(await approvals.answer(requestId, { decision: 'approve' })).toMatchObject({
      status: 'answered',
    });
    const error = await approvals
      .answer(requestId, { decision: 'reject' })
      .catch((thrown: unknown) => thrown);
    expect(isServerProblem(error, 'request_settled')).toBe(true);
    expect(error).toMatchObject({ status: 409 });
    const { session, id } = await run.accepted();
    expect(await runs.wait(session, id, { until: 'end' })).toMatchObject({
      status: 'completed',
      output: expect.stringContaining('refunded'),
    });
    expect(refunds).toContain('o17');
    expect(await following).toEqual(
      expect.arrayContaining(['tool_yield', 'invocation_yield', 'tool_input', 'invocation_end']),
    );
  });

  test('are waited for to their end, however long they rest in between', async () => {
    const { url } = await serving({ runnables: [clerk()] });
    const { runs, operations } = impatient(url);
    const run = runs.start({ agent: 'clerk', input: 'Make film f1' });
    expect(await run).toMatchObject({ status: 'waiting', requests: [{ operationId: 'f1' }] });
    const { session, id } = await run.accepted();
    const ended = runs.wait(session, id, { until: 'end' });
    await operations.settle('f1', { result: 'f1.mp4' });
    expect(await ended).toMatchObject({
      status: 'completed',
      output: expect.stringContaining('f1.mp4'),
    });
    await expect(operations.settle('f1', { result: 'f1.mp4' })).rejects.toMatchObject({
      name: 'ServerProblemError',
      code: 'request_settled',
    });
  });

  test('are cancelled', async () => {
    const { url } = await serving({ runnables: [clerk()] });
    const run = impatient(url).runs.start({ agent: 'clerk', input: 'Refund order o18' });
    await run;
    await run.cancel('Not needed');
    const { session, id } = await run.accepted();
    expect(await impatient(url).runs.wait(session, id, { until: 'end' })).toMatchObject({
      status: 'cancelled',
    });
    expect(refunds).not.toContain('o18');
  });

  test(
    'that cannot be started reject, where somebody waits for them, with ' + 'what is wrong',
    async () => {
      const { url } = await serving({ runnables: [clerk()] });
      const run = impatient(url).runs.start({ agent: 'clark', input: 'Hi' });
      await expect(run).rejects.toMatchObject({
        code: 'agent_not_found',
        status: 404,
        data: { nearest: 'clerk' },
      });
      await expect(run.accepted()).rejects.toMatchObject({ code: 'agent_not_found' });
      await expect(
        (async () => {
          for await (const _ of run);
        })(),
      ).rejects.toMatchObject({ code: 'agent_not_found' });
    },
  );
});

describe('sessions', () => {
  test('are made, listed over pages, looked at, forked and deleted', async () => {
    const { url } = await serving({ runnables: [clerk()] });
    const { sessions, runs } = impatient(url);
    for (const id of ['a', 'b', 'c', 'd', 'e']) await sessions.create({ id, user: 'ann' });
    const ids: string[] = [];
    for await (const { id } of sessions.list({ limit: 2, order: 'createdAt', user: 'ann' }))
      ids.push(id);
    expect(ids).toEqual(['e', 'd', 'c', 'b', 'a']);
    const { sessions: found, cursor } = await sessions
      .list({ limit: 2, order: 'createdAt' })
      .page();
    expect(found.map(({ id }) => id)).toEqual(['e', 'd']);
    expect(typeof cursor).toBe('string');

    await runs.start({ agent: 'clerk', session: 'a', input: 'Hi' });
    expect(await sessions.get('a')).toMatchObject({
      id: 'a',
      status: 'completed',
      user: 'ann',
      waiting: 0,
    });
    const events = await all(sessions.events('a', { limit: 3 }));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect((await all(sessions.events('a', { upTo: 4 }))).length).toBe(4);
    expect(await sessions.transcript('a')).toMatchObject([
      { kind: 'user', text: 'Hi' },
      { kind: 'assistant', text: 'Hello.' },
    ]);
    expect(await sessions.state('a', { at: 1 })).toMatchObject({ seq: 1 });
    expect(await sessions.fork('a', { id: 'a2', at: 2 })).toMatchObject({ id: 'a2' });
    await sessions.delete('a', { erase: true });
    await expect(sessions.get('a')).rejects.toMatchObject({ code: 'session_not_found' });
    await expect(sessions.get('a2')).rejects.toMatchObject({ code: 'session_not_found' });
  });

  test('take messages, and are paused and continued', async () => {
    const { app, url } = await serving({ runnables: [clerk()] });
    const { sessions, runs } = impatient(url);
    const run = runs.start({ agent: 'clerk', input: 'Refund order o19' });
    await run;
    const { session, id } = await run.accepted();
    await sessions.send(session, 'Hurry', { key: 'm1' });
    await sessions.send(session, 'Hurry', { key: 'm1' });
    await sessions.pause(session, { reason: 'Lunch' });
    expect(await sessions.continue(session)).toMatchObject({ session, id });
    await sessions.cancel(session);
    await runs.wait(session, id, { until: 'end' });
    const ledger = await all(app.sessions.events(session));
    expect(ledger.filter((event) => event.type === 'user' && event.text === 'Hurry').length).toBe(
      1,
    );
  });
});

describe('a client', () => {
  test('sends its key and its headers with every request', async () => {
    const seen: Record<string, string>[] = [];
    const { sessions } = client({
      url: 'https://agents.example.com/below/',
      key: async () => 'adj_1_secret',
      headers: { 'x-team': 'billing' },
      fetch: async (url, init) => {
        seen.push({ url, ...(init.headers as Record<string, string>) });
        return Response.json({ id: 'a b' }, { status: 201 });
      },
    });
    await sessions.get('a b/c');
    await sessions.create({ id: 'x' }, { idempotencyKey: 'mine' });
    expect(seen).toMatchObject([
      {
        url: 'https://agents.example.com/below/v1/sessions/a%20b%2Fc',
        authorization: 'Bearer adj_1_secret',
        'x-team': 'billing',
      },
      { url: 'https://agents.example.com/below/v1/sessions', 'idempotency-key': 'mine' },
    ]);
    expect(seen[0]?.['idempotency-key']).toBeUndefined();
  });

  test(
    'tries again what may succeed in a moment, under the same key, and not ' + 'what will not',
    async () => {
      const keys: (string | undefined)[] = [];
      const answers = [
        () => new Response('', { status: 503, headers: { 'retry-after': '0' } }),
        () => Promise.reject(new TypeError('fetch failed')),
        () =>
          new Response('{"code":"idempotency_key_in_use","status":409,"detail":"…"}', {
            status: 409,
            headers: { 'content-type': 'application/problem+json' },
          }),
        () => Response.json({ id: 'x' }),
      ];
      const fetch = async (_url: string, init: RequestInit): Promise<Response> => {
        keys.push((init.headers as Record<string, string>)['idempotency-key']);
        return (answers.shift() as () => Response | Promise<Response>)();
      };
      const { sessions } = impatient('http://localhost:1', { fetch });
      expect(await sessions.create()).toEqual({ id: 'x' });
      expect(keys).toHaveLength(4);
      expect(new Set(keys).size).toBe(1);
      expect(keys[0]).toMatch(/^\w{24}$/);

      answers.push(() => new Response('no', { status: 403 }));
      await expect(sessions.create()).rejects.toMatchObject({
        code: 'http_403',
        status: 403,
        message: expect.stringContaining('no'),
      });
      answers.push(() => new Response('<html>', { status: 200 }));
      await expect(sessions.get('x')).rejects.toMatchObject({ code: 'unexpected_answer' });
      answers.push(
        () =>
          new Response('', { status: 302, headers: { location: 'https://elsewhere.example.com' } }),
      );
      await expect(sessions.get('x')).rejects.toMatchObject({ code: 'unexpected_answer' });
      expect(answers).toEqual([]);
    },
  );

  test('gives up after the time that it is given, and says what was wrong', async () => {
    const { sessions } = client({
      url: 'http://127.0.0.1:1',
      retry: { initialDelayMs: 1, maxDelayMs: 2, giveUpAfterMs: 20 },
    });
    const error = await sessions.get('x').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: 'ConnectionLostError',
      code: 'connection_lost',
      url: 'http://127.0.0.1:1/v1/sessions/x',
    });
    const busy = client({
      url: 'http://localhost:1',
      retry: { giveUpAfterMs: 1_000 },
      fetch: async () => new Response('', { status: 429, headers: { 'retry-after': '60' } }),
    });
    // Waiting longer than it may would be of no use.
    await expect(busy.sessions.get('x')).rejects.toMatchObject({
      status: 429,
      retryAfterMs: 60_000,
    });
  });

  test('ends a request that its caller no longer wants', async () => {
    const giving = new AbortController();
    const { sessions } = client({
      url: 'http://127.0.0.1:1',
      retry: { initialDelayMs: 60_000, maxDelayMs: 60_000 },
    });
    const asked = sessions.get('x', { signal: giving.signal });
    giving.abort(new Error('no longer'));
    await expect(asked).rejects.toThrow('no longer');
  });

  test.each<[unknown, string]>([
    [undefined, 'client({ url })'],
    [{ url: 'agents.example.com' }, 'must be an address'],
    [{ url: 'ftp://agents.example.com' }, 'must be an address'],
    [{ url: 'https://agents.example.com/v1/' }, 'leave it out'],
    [{ url: 'https://me:pw@agents.example.com' }, 'give it as `key`'],
    [{ url: 'https://agents.example.com?x=1' }, 'has a query'],
    [{ url: 'https://agents.example.com', token: 'x' }, 'there is no option "token"'],
    [
      { url: 'https://agents.example.com', retry: { giveUp: 1 } },
      'there is no option `retry.giveUp`',
    ],
    [
      { url: 'https://agents.example.com', retry: { initialDelayMs: -1 } },
      '`retry.initialDelayMs` must be',
    ],
    [{ url: 'https://agents.example.com', timeoutMs: 0 }, '`timeoutMs` must be'],
    [{ url: new URL('https://agents.example.com') }, '`url` must be a text'],
    [{ url: 'https://agents.example.com', key: 3 }, '`key` must be a text'],
    [{ url: 'https://agents.example.com', headers: 'accept: */*' }, '`headers` must be an object'],
    [
      { url: 'https://agents.example.com', headers: new Headers({ a: 'b' }) },
      'Object.fromEntries(headers)',
    ],
    [{ url: 'https://agents.example.com', fetch: 'fetch' }, '`fetch` must be a function'],
    [{ url: 'https://agents.example.com', retry: false }, '`retry` must be an object'],
  ])('is not made with %j', (options, reason) => {
    expect(() => client(options as never)).toThrow(reason);
  });

  test.each(['', '.', '..'])('takes %j for no id: it would lead to another route', async (id) => {
    const requested: string[] = [];
    const { approvals, runs, sessions } = client({
      url: 'https://agents.example.com',
      fetch: async (url) => {
        requested.push(url);
        return Response.json({});
      },
    });
    const calls = [
      runs.cancel('s', id),
      sessions.get(id),
      sessions.delete(id),
      approvals.answer(id, { decision: 'approve' }),
    ];
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { code: 'invalid_client', message: expect.stringContaining(`"${id}" is no id`) },
      });
    }
    await expect(sessions.follow(id)[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: 'invalid_client',
    });
    expect(requested).toEqual([]);
  });

  test('tells what there is: agents, usage, health', async () => {
    const { url } = await serving({ runnables: [clerk()] });
    const { agents, usage, health, runs } = impatient(url);
    expect(await health()).toMatchObject({ status: 'ok' });
    expect(await agents.list()).toMatchObject([{ name: 'clerk', kind: 'agent' }]);
    expect(await agents.get('clerk')).toMatchObject({
      tools: [{ name: 'refund', approval: 'always' }, { name: 'film' }],
    });
    const { session } = await runs.start({ agent: 'clerk', input: 'Hi' });
    expect(await usage.page()).toMatchObject({ complete: true, total: { calls: 1 } });
    expect(await all(usage.list())).toMatchObject([{ session, calls: 1 }]);
  });
});
