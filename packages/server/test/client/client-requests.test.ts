import { describe, expect, test } from 'vitest';
import { client } from '../../src/client/index.ts';
import { all, clerk } from './clerk-app.ts';
import { impatient, serving } from './serving.ts';

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
