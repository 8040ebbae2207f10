import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agent, memoryStore, runtime } from 'adjutant';
import { StoreUnavailableError } from 'adjutant/errors';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { statusOfCode } from '../../src/http/error-statuses.ts';
import { callerOf } from './caller.ts';

function shop() {
  const support = agent({ name: 'support', model: scriptedModel([]) });
  return callerOf(runtime({ app: 'shop', runnables: [support] }));
}

describe('a request that cannot be answered gets a problem', () => {
  test('for an address that has nothing', async () => {
    const { get } = shop();
    for (const path of ['/', '/v1', '/v2/sessions', '/v1/sessions/', '/v1/sessions/s/nothing']) {
      const { status, headers, body } = await get(path);
      expect([status, headers.get('content-type'), body.code]).toEqual([
        404,
        'application/problem+json',
        'route_not_found',
      ]);
    }
  });

  test('for a method that an address does not take, with those that it takes', async () => {
    const { send } = shop();
    const refused = await send('/v1/sessions', { method: 'PUT' });
    expect([refused.status, refused.headers.get('allow'), refused.body.code]).toEqual([
      405,
      'GET, POST',
      'method_not_allowed',
    ]);
    expect((await send('/v1/sessions/s', { method: 'PATCH' })).headers.get('allow')).toBe(
      'GET, DELETE',
    );
    expect((await send('/v1/agents', { method: 'DELETE' })).headers.get('allow')).toBe('GET');
  });

  test('for what is missing and what is no number, in words that are no code', async () => {
    const { get, send } = shop();
    const bodies = [
      await send('/v1/runs', {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      }),
    ];
    for (const query of ['limit=ten', 'limit=1&limit=2'])
      bodies.push(await get(`/v1/sessions?${query}`));
    bodies.push(
      await send('/v1/resume/x', {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      }),
    );
    expect(bodies.map(({ body }) => body.detail)).toEqual([
      'The request does not fit: body.agent: is missing.',
      'The request does not fit: query.limit: must be a number, given once.',
      'The request does not fit: query.limit: must be a number, given once.',
      'The request does not fit: body.result: is missing.',
    ]);
  });

  test.each(['{"agent"', '', '[1,]', 'agent=support'])(
    'for a body that is no JSON: %s',
    async (body) => {
      const { send } = shop();
      const refused = await send('/v1/runs', {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      });
      expect(refused).toMatchObject({ status: 400, body: { code: 'malformed_json' } });
    },
  );

  test.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded'])(
    'for a body of the type %s',
    async (type) => {
      const { send } = shop();
      for (const path of ['/v1/runs', '/v1/sessions/s/cancel']) {
        const refused = await send(path, {
          method: 'POST',
          body: '{}',
          headers: { 'content-type': type },
        });
        expect(refused).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
      }
    },
  );

  test('with every place that is wrong, and without the values', async () => {
    const { post } = shop();
    const refused = await post('/v1/runs', {
      agent: 5,
      input: ['confidential'],
      session: '',
      unknown: 1,
    });
    expect(refused.body).toMatchObject({
      status: 400,
      code: 'invalid_request',
      data: {
        issues: expect.arrayContaining([
          expect.objectContaining({ path: 'body.agent' }),
          expect.objectContaining({ path: 'body.input' }),
        ]),
      },
    });
    expect(refused.text).not.toContain('confidential');
    const many = await post(
      '/v1/sessions',
      Object.fromEntries(Array.from({ length: 5_000 }, (_, number) => [`field${number}`, 1])),
    );
    expect(many.text.length).toBeLessThan(3_000);
  });

  test('that names the request, as the header does, and the operator is told', async () => {
    const store = memoryStore();
    const told: unknown[] = [];
    const app = runtime({ app: 'shop', store, recover: 'manual' });
    const { get } = callerOf(app, { onError: (_error, request) => told.push(request) });
    const reads = store.for.bind(store);
    const error = new StoreUnavailableError({
      store: 'shelf',
      reason: 'the disk of db.internal is full',
    });
    store.for = (scope) => ({ ...reads(scope), list: () => Promise.reject(error) });
    const { status, body, headers, text } = await get('/v1/sessions');
    expect([status, body.code, headers.get('retry-after')]).toEqual([
      503,
      'store_unavailable',
      '1',
    ]);
    expect(text).not.toContain('db.internal');
    const id = headers.get('x-request-id') ?? 'none';
    expect(body).toMatchObject({ instance: `urn:adjutant:request:${id}` });
    expect(told).toContainEqual({ id, method: 'GET', path: '/v1/sessions' });
  });
});

/** The codes of a section of the page about errors. */
function codesOf(heading: string): readonly string[] {
  const page = readFileSync(
    join(import.meta.dirname, '../../../../docs/reference/errors.md'),
    'utf8',
  );
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| `([a-z_]+)`/gm)].map(([, code = '']) => code);
}

test.each(['Requests and answers', 'Sessions, ledgers and stores'])(
  'every error about %s has a status of its own',
  (heading) => {
    const codes = codesOf(heading);
    expect(codes.length).toBeGreaterThan(5);
    expect(codes.filter((code) => !Object.hasOwn(statusOfCode, code))).toEqual([]);
  },
);

test('no code has a status that does not exist', () => {
  const page = readFileSync(
    join(import.meta.dirname, '../../../../docs/reference/errors.md'),
    'utf8',
  );
  expect(Object.keys(statusOfCode).filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});
