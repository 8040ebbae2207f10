import { agent, type JsonValue, memoryStore, pending, runtime, type Store, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { server } from '../../src/index.ts';
import { bearer, send, tokenAuth } from './paying-app.ts';

async function renderingServer({
  store = memoryStore(),
  options = {},
  user,
}: {
  store?: Store;
  options?: object;
  user?: string;
} = {}) {
  const render = tool({
    name: 'render',
    description: 'Renders',
    schema: z.object({}),
    execute: () => pending({ operationId: 'film/17' }),
  });
  const director = agent({
    name: 'director',
    model: roundModel([{ toolCalls: [{ name: 'render' }] }, { text: 'Cut.' }]),
    tools: [render],
  });
  const make = () => runtime({ app: 'studio', store, runnables: [director], recover: 'manual' });
  const app = make();
  const session = await app.sessions.create(user === undefined ? {} : { userId: user });
  await app.run(director, { session, input: 'Action' });
  return { app, api: server(app, options), other: server(make(), options), session: session.id };
}

/** Returns the result that the tool gave the model. */
async function resultOf(
  app: Awaited<ReturnType<typeof renderingServer>>['app'],
  session: string,
): Promise<unknown> {
  await app.resume(session);
  const { events } = await app.sessions.open({ id: session });
  return events.find((event) => event.type === 'tool_result')?.result;
}

const path = '/v1/resume/film%2F17';

describe('the result of an operation', () => {
  test('counts once, from any process', async () => {
    const { app, api, other, session } = await renderingServer();
    const results = ['a', 'b', 'c', 'd'].map((result, index) =>
      send(index % 2 === 0 ? api : other, 'POST', path, { result }),
    );
    const statuses = (await Promise.all(results)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 409, 409, 409]);
    expect(await send(other, 'POST', path, { result: 'a' })).toMatchObject({
      status: 409,
      body: { code: 'request_settled', data: { by: 'operator' } },
    });
    const winner = ['a', 'b', 'c', 'd'][statuses.indexOf(200)];
    expect(await resultOf(app, session)).toMatchObject({ status: 'success', content: winner });
  });

  test.each<[JsonValue]>([[null], [{ url: 'https://example.com' }], [0], [[]]])(
    'may be any JSON: %j',
    async (result) => {
      const { app, api, session } = await renderingServer();
      expect(await send(api, 'POST', path, { result })).toMatchObject({
        status: 200,
        body: { operationId: 'film/17', status: 'settled' },
      });
      expect(await resultOf(app, session)).toMatchObject({ status: 'success' });
    },
  );

  test('can say that it failed', async () => {
    const { app, api, session } = await renderingServer();
    expect((await send(api, 'POST', path, { result: 'no disk', failed: true })).status).toBe(200);
    expect(JSON.stringify(await resultOf(app, session))).toContain('no disk');
  });

  test.each([
    [{}, 400, 'invalid_request'],
    [{ result: 1, failed: 'yes' }, 400, 'invalid_request'],
    [{ result: 1, by: 'ann' }, 400, 'invalid_request'],
  ])('is refused when it is none: %j', async (body, status, code) => {
    const { api } = await renderingServer();
    expect(await send(api, 'POST', path, body)).toMatchObject({ status, body: { code } });
  });

  test('of what nobody waits for is 404', async () => {
    const { api } = await renderingServer();
    expect(await send(api, 'POST', '/v1/resume/film', { result: 1 })).toMatchObject({
      status: 404,
      body: { code: 'request_not_found' },
    });
  });

  test('cannot be given by whoever is bound to somebody else', async () => {
    const { api } = await renderingServer({ options: tokenAuth, user: 'ann' });
    expect(
      (await send(api, 'POST', path, { result: 1 }, await bearer({ sub: 'x', user: 'bob' })))
        .status,
    ).toBe(404);
    expect(
      (await send(api, 'POST', path, { result: 1 }, await bearer({ sub: 'x', agents: ['clerk'] })))
        .status,
    ).toBe(404);
    expect(
      (await send(api, 'POST', path, { result: 1 }, await bearer({ sub: 'x', roles: ['viewer'] })))
        .status,
    ).toBe(403);
    expect(
      (await send(api, 'POST', path, { result: 1 }, await bearer({ sub: 'x', user: 'ann' })))
        .status,
    ).toBe(200);
  });
});
