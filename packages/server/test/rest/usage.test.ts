import { agent, memoryStore, runtime } from 'adjutant';
import { roundModel, testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { callerOf } from './caller.ts';

const usage = { inputTokens: 100, outputTokens: 10 };

function used() {
  const clock = testClock();
  const make = (name: string) => agent({ name, model: roundModel([{ text: 'Hello.', usage }]) });
  const agents = { support: make('support'), sales: make('sales') };
  const app = runtime({
    app: 'shop',
    store: memoryStore({ clock }),
    runnables: Object.values(agents),
    ports: { clock },
  });
  return { clock, app, ...agents, ...callerOf(app) };
}

test('tokens are summed by session and model, and narrowed', async () => {
  const { app, clock, support, sales, get } = used();
  const begin = clock.now();
  await app.run(support, {
    session: await app.sessions.open({ id: 'a', userId: 'ann' }),
    input: 'Hi',
  });
  clock.advance(60_000);
  await app.run(sales, { session: 'a', input: 'Hi' });
  await app.run(sales, { session: 'b', input: 'Hi' });
  await app.sessions.create({ id: 'idle' });
  const calls = async (query: string) => {
    const { body } = await get(`/v1/usage?${query}`);
    expect(body.total.usage.inputTokens).toBe(body.total.calls * usage.inputTokens);
    return body.total.calls;
  };
  const all = await get('/v1/usage');
  expect(all.body).toMatchObject({
    complete: true,
    total: { calls: 3, usage: { inputTokens: 300, outputTokens: 30 }, unpriced: 3 },
  });
  expect(all.body.sessions.map(({ session }) => session).toSorted()).toEqual(['a', 'b']);
  expect(await calls('session=a')).toBe(2);
  expect(await calls('session=idle')).toBe(0);
  expect(await calls('agent=sales')).toBe(2);
  expect(await calls('user=ann')).toBe(2);
  expect(await calls('user=bob')).toBe(0);
  expect(await calls(`to=${begin + 60_000}`)).toBe(1);
  expect(await calls(`from=${begin + 60_000}`)).toBe(2);
  expect(
    await calls(`from=${new Date(begin).toISOString()}&to=${new Date(begin + 1).toISOString()}`),
  ).toBe(1);
  expect((await get('/v1/usage?session=nowhere')).status).toBe(404);
  expect((await get('/v1/usage?from=yesterday')).status).toBe(400);
});

test('a page says whether it has everything', async () => {
  const { app, support, get } = used();
  for (const session of ['a', 'b', 'c']) await app.run(support, { session, input: 'Hi' });
  const first = (await get('/v1/usage?limit=2')).body;
  expect(first).toMatchObject({ complete: false, total: { calls: 2 } });
  const second = (await get(`/v1/usage?limit=2&cursor=${first.cursor}`)).body;
  expect(second).toMatchObject({ complete: false, total: { calls: 1 } });
  expect(second.cursor).toBeUndefined();
});

test('what a fork shares is counted once', async () => {
  const { app, support, get } = used();
  await app.run(support, { session: 'a', input: 'Hi' });
  await app.sessions.fork('a', { id: 'fork' });
  expect((await get('/v1/usage')).body.total.calls).toBe(1);
  await app.run(support, { session: 'fork', input: 'Again' });
  await app.sessions.fork('fork', { id: 'fork of the fork' });
  expect((await get('/v1/usage')).body).toMatchObject({ total: { calls: 2 } });
});
