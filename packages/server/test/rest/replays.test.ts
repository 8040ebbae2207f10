import { agent, memoryStore, type Runtime, runtime, sequence, step, tool } from 'adjutant';
import { replay } from 'adjutant/replay';
import { roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { bearer, tokenAuth } from '../approvals/paying-app.ts';
import { impatient, serving } from '../client/serving.ts';
import { callerOf, callerTo } from './caller.ts';

const looks: string[] = [];
const look = tool({
  name: 'look',
  description: 'Looks',
  recovery: 'rerun',
  schema: z.object({}),
  execute: () => {
    looks.push('looked');
    return 'blue';
  },
});
const clerkOf = (instructions: string) =>
  agent({
    name: 'clerk',
    model: roundModel([{ toolCalls: [{ name: 'look' }] }, { text: 'It is blue.' }]),
    instructions,
    tools: [look],
  });

async function recorded(): Promise<Runtime> {
  const clerk = clerkOf('You are a clerk.');
  const app = runtime({ app: 'served', store: memoryStore(), runnables: [clerk] });
  await app.run(clerk, { session: 's', input: 'Colour?', runId: 'run' });
  return app;
}

test('the code that wrote a session does the same, and asks and writes nothing', async () => {
  const app = await recorded();
  const { post, get } = callerOf(app);
  const before = (await get('/v1/sessions/s')).body;
  const looked = looks.length;
  expect(await post('/v1/sessions/s/replay')).toMatchObject({
    status: 200,
    body: { status: 'same', undeclaredSteps: [] },
  });
  expect((await get('/v1/sessions/s')).body).toEqual(before);
  expect(looks).toHaveLength(looked);
});

test('other code diverges where `replay` finds it, also through the client', async () => {
  const { store } = await recorded();
  const today = clerkOf('You are a painter.');
  const { app, url } = await serving({ store, runnables: [today] });
  const { sessions } = impatient(url);
  const { divergence } = await replay(await app.sessions.open({ id: 's' }), app);
  const answer = await sessions.replay('s');
  expect(answer).toMatchObject({ status: 'diverged', divergence });
  expect(answer.divergence?.kind).toBe('prompt');
  const until = (divergence?.seq ?? 0) - 1;
  expect(await sessions.replay('s', { until })).toMatchObject({ status: 'same', events: until });
});

test('a session and its fork differ where they part', async () => {
  const { store } = await recorded();
  const { app, url } = await serving({ store, runnables: [clerkOf('You are a clerk.')] });
  const { sessions } = impatient(url);
  const { events } = await app.sessions.open({ id: 's' });
  const at = (events.find(({ type }) => type === 'model_start')?.seq ?? 0) - 1;
  await sessions.fork('s', { at, id: 'plain' });
  await sessions.fork('s', { at, id: 'edited', edit: { prompt: { instructions: 'Paint.' } } });
  for (const id of ['plain', 'edited']) await app.resume(id);
  expect(await sessions.difference('s', 'plain')).toEqual({ shared: at });
  expect(await sessions.difference('s', 'edited')).toMatchObject({
    shared: at,
    difference: { seq: at + 1, kind: 'prompt', otherSeq: expect.any(Number) },
  });
  expect(await sessions.difference('s', 's')).toEqual({ shared: events.length });
});

test('steps that may have effects are run again only for those who may operate', async () => {
  let ran = 0;
  const bill = step({ name: 'bill', execute: () => void ran++ });
  const count = step({ name: 'count', effects: false, execute: () => undefined });
  const all = sequence({ name: 'all', runnables: [bill, count] });
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [all] });
  await app.run(all, { session: 's' });
  const { api } = callerOf(app, tokenAuth);
  const operator = callerTo(api, await bearer({ sub: 'op' }));
  const viewer = callerTo(api, await bearer({ sub: 'vic', roles: ['viewer'] }));
  for (const caller of [operator, viewer])
    expect(await caller.post('/v1/sessions/s/replay')).toMatchObject({
      status: 409,
      body: { code: 'replay_runs_steps', data: { steps: ['bill'] } },
    });
  expect(await viewer.post('/v1/sessions/s/replay', { runSteps: true })).toMatchObject({
    status: 403,
    body: { code: 'forbidden' },
  });
  expect(ran).toBe(1);
  expect(await operator.post('/v1/sessions/s/replay', { runSteps: true })).toMatchObject({
    status: 200,
    body: { status: 'same', undeclaredSteps: ['bill'] },
  });
  expect(ran).toBe(2);
});

test('wrong places, unknown sessions and those of others are refused', async () => {
  const app = await recorded();
  await app.sessions.create({ id: 'of-ann', userId: 'ann' });
  const { api } = callerOf(app, tokenAuth);
  const operator = callerTo(api, await bearer({ sub: 'op' }));
  const ann = callerTo(api, await bearer({ sub: 'ann', user: 'ann' }));
  for (const until of [0, 1.5, 'x'])
    expect((await operator.post('/v1/sessions/s/replay', { until })).body.code).toBe(
      'invalid_request',
    );
  expect(await operator.post('/v1/sessions/s/replay', { until: 9_999 })).toMatchObject({
    status: 400,
    body: { code: 'invalid_option' },
  });
  expect((await operator.post('/v1/sessions/none/replay')).status).toBe(404);
  expect((await operator.get('/v1/sessions/s/difference')).body.code).toBe('invalid_request');
  expect((await operator.get('/v1/sessions/s/difference?with=none')).status).toBe(404);
  for (const answer of [
    await ann.post('/v1/sessions/s/replay'),
    await ann.get('/v1/sessions/of-ann/difference?with=s'),
    await ann.get('/v1/sessions/s/difference?with=of-ann'),
  ])
    expect(answer).toMatchObject({ status: 404, body: { code: 'session_not_found' } });
});
