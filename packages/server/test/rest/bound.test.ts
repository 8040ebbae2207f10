import { agent, memoryStore, runtime } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { bearer, tokenAuth } from '../approvals/paying-app.ts';
import { callerOf, callerTo } from './caller.ts';

function shop() {
  const make = (name: string) => agent({ name, model: roundModel([{ text: 'Hello.' }]) });
  const agents = { support: make('support'), sales: make('sales') };
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: Object.values(agents) });
  const { api } = callerOf(app, tokenAuth);
  return { app, api, ...agents };
}

test('who is bound to a user sees and makes sessions of that user only', async () => {
  const { app, api, support } = shop();
  await app.run(support, {
    session: await app.sessions.open({ id: 'of-ann', userId: 'ann' }),
    input: 'Hi',
  });
  await app.run(support, {
    session: await app.sessions.open({ id: 'of-bob', userId: 'bob' }),
    input: 'Hi',
  });
  await app.run(support, { session: 'of-nobody', input: 'Hi' });
  const ann = callerTo(api, await bearer({ sub: 'ann', user: 'ann' }));
  expect((await ann.get('/v1/sessions')).body.sessions.map(({ id }) => id)).toEqual(['of-ann']);
  expect((await ann.get('/v1/sessions?user=bob')).body.sessions).toEqual([]);
  expect((await ann.get('/v1/usage')).body.sessions.map(({ session }) => session)).toEqual([
    'of-ann',
  ]);
  const [run] = (await ann.get('/v1/sessions/of-ann/runs')).body.runs;
  for (const id of ['of-bob', 'of-nobody', 'nowhere']) {
    const home = `/v1/sessions/${id}`;
    const answers = [
      await ann.get(home),
      await ann.get(`${home}/events`),
      await ann.get(`${home}/state`),
      await ann.get(`${home}/transcript`),
      await ann.get(`${home}/runs`),
      await ann.get(`${home}/runs/${run?.id}`),
      await ann.post(`${home}/runs`, { agent: 'support', input: 'Hi' }),
      await ann.post('/v1/runs', { agent: 'support', input: 'Hi', session: id }),
      await ann.post(`${home}/runs/${run?.id}/cancel`),
      await ann.post(`${home}/fork`),
      await ann.post(`${home}/messages`, { text: 'Hi' }),
      await ann.post(`${home}/cancel`),
      await ann.post(`${home}/pause`),
      await ann.post(`${home}/continue`),
      await ann.post(`${home}/outcomes`, { callId: 'r/charge', happened: true }),
      await ann.post(`${home}/reopen`, { reason: 'Fixed' }),
      await ann.delete(home),
      await ann.get(`/v1/usage?session=${id}`),
    ];
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 404, body: { code: 'session_not_found' } });
  }
  expect((await ann.post('/v1/sessions', {})).body).toMatchObject({ user: 'ann' });
  expect((await ann.post('/v1/runs', { agent: 'support', input: 'Hi' })).status).toBe(202);
  expect(await ann.post('/v1/sessions', { user: 'bob' })).toMatchObject({
    status: 403,
    body: { code: 'other_user' },
  });
  expect(await ann.post('/v1/sessions', { scopes: { user: 'bob' } })).toMatchObject({
    status: 403,
    body: { code: 'other_user' },
  });
  expect(await ann.post('/v1/runs', { agent: 'support', user: 'bob' })).toMatchObject({
    status: 403,
    body: { code: 'other_user' },
  });
  expect(await ann.post('/v1/sessions', { scopes: { patient: 'p1' } })).toMatchObject({
    status: 403,
    body: { code: 'bound_to_user' },
  });
  expect(await ann.post('/v1/sessions', { permissions: ['fs:*'] })).toMatchObject({
    status: 403,
    body: { code: 'bound_to_user' },
  });
  expect((await ann.post('/v1/sessions/of-ann/fork')).body).toMatchObject({ user: 'ann' });
});

test(
  'who is bound to agents knows of no other, nor of sessions with a run ' + 'of another',
  async () => {
    const { app, api, support, sales } = shop();
    for (let number = 0; number < 5; number++) {
      await app.run(support, { session: `support-${number}`, input: 'Hi' });
      await app.run(sales, { session: `sales-${number}`, input: 'Hi' });
    }
    const caller = callerTo(api, await bearer({ sub: 'desk', agents: ['sales'] }));
    expect((await caller.get('/v1/agents')).body.agents.map(({ name }) => name)).toEqual(['sales']);
    expect(await caller.get('/v1/agents/support')).toMatchObject({
      status: 404,
      body: { code: 'agent_not_found' },
    });
    expect(await caller.post('/v1/runs', { agent: 'support', input: 'Hi' })).toMatchObject({
      status: 404,
      body: { code: 'agent_not_found' },
    });
    expect((await caller.get('/v1/sessions/support-1')).status).toBe(404);
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = (
        await caller.get(`/v1/sessions?limit=2${cursor === undefined ? '' : `&cursor=${cursor}`}`)
      ).body;
      found.push(...page.sessions.map(({ id }) => id));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(found.toSorted()).toEqual([0, 1, 2, 3, 4].map((number) => `sales-${number}`));
    expect(
      (await caller.post('/v1/sessions/sales-1/runs', { agent: 'sales', input: 'Hi' })).status,
    ).toBe(202);
  },
);
