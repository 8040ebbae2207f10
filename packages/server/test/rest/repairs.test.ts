import { memoryStore, runtime, type Store, step } from 'adjutant';
import { describe, expect, test } from 'vitest';
import { callerOf } from './caller.ts';
import { stores } from './stores.ts';

/** An app whose charge loses its connection, and what was charged behind it. */
function shop(store: Store = memoryStore()) {
  const charged: unknown[] = [];
  const charge = (): Promise<string> =>
    Promise.reject(Object.assign(new Error('lost'), { code: 'ETIMEDOUT' }));
  const order = step({
    name: 'order',
    execute: async (ctx) => {
      const found = await ctx.effect('charge', charge);
      charged.push(found);
      return ctx.complete(found);
    },
  });
  const app = runtime({ app: 'shop', store, runnables: [order], recover: 'manual' });
  return { app, charged, ...callerOf(app) };
}

/** A run of the shop that has failed, because nobody knows whether the card was charged. */
async function failed(store?: Store) {
  const parts = shop(store);
  await parts.post('/v1/sessions', { id: 's' });
  await parts.post('/v1/sessions/s/runs', { agent: 'order', id: 'r' });
  const { body } = await parts.get('/v1/sessions/s/runs/r?wait=20000');
  expect(body).toMatchObject({
    status: 'error',
    error: { code: 'effect_unknown', data: { callId: 'r/charge' } },
  });
  return parts;
}

describe.each(stores)('a run is repaired on %s', (_name, makeStore) => {
  test('by somebody who tells the outcome of its effect, reopens and continues it', async () => {
    const { app, charged, get, post } = await failed(makeStore());
    const told = { callId: 'r/charge', happened: true, result: { id: 'ch_1' } };
    expect(await post('/v1/sessions/s/outcomes', told)).toMatchObject({
      status: 200,
      body: { session: 's', callId: 'r/charge', status: 'recorded' },
    });
    expect(
      await post('/v1/sessions/s/reopen', { reason: 'The provider was asked.' }),
    ).toMatchObject({ status: 200, body: { session: 's', status: 'reopened' } });
    expect((await post('/v1/sessions/s/continue')).status).toBe(202);
    expect((await get('/v1/sessions/s/runs/r?wait=20000')).body).toMatchObject({
      status: 'completed',
      output: { id: 'ch_1' },
    });
    expect(charged).toEqual([{ id: 'ch_1' }]);
    const { events } = await app.sessions.get('s');
    expect(events.filter(({ type }) => type === 'invocation_reopen')).toMatchObject([
      { by: 'operator', reason: 'The provider was asked.', effects: ['r/charge'] },
    ]);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'tool_result', callId: 'r/charge', by: 'operator' }),
    );
  });
});

test('an effect that failed for good fails its step', async () => {
  const { get, post } = await failed();
  const told = { callId: 'r/charge', happened: false, failed: 'The card was declined.' };
  expect((await post('/v1/sessions/s/outcomes', told)).status).toBe(200);
  await post('/v1/sessions/s/reopen', { path: 'r', reason: 'It is known now.' });
  await post('/v1/sessions/s/continue');
  expect((await get('/v1/sessions/s/runs/r?wait=20000')).body).toMatchObject({
    status: 'error',
    error: { code: 'effect_failed', message: expect.stringContaining('The card was declined.') },
  });
});

test.for<[string, object, string]>([
  ['no outcome', { callId: 'r/charge' }, 'body.happened'],
  ['no id', { happened: true }, 'body.callId'],
  ['an empty id', { callId: '', happened: true }, 'body.callId'],
  ['an id that is too long', { callId: 'r/'.repeat(2_049), happened: true }, 'body.callId'],
  ['a wrong type', { callId: 'r/charge', happened: 'yes' }, 'body.happened'],
  ['a result of nothing', { callId: 'r/charge', happened: false, result: 1 }, 'body.result'],
  ['a failure that happened', { callId: 'r/charge', happened: true, failed: 'no' }, 'body.failed'],
  ['an unknown field', { callId: 'r/charge', happened: true, by: 'user:ann' }, 'by'],
])('an outcome with %s is refused', async ([, body, place]) => {
  const { app, post } = await failed();
  const { seq } = (await app.sessions.list({ id: 's' })).sessions[0] as { seq: number };
  expect(await post('/v1/sessions/s/outcomes', body)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', detail: expect.stringContaining(place) },
  });
  expect((await app.sessions.list({ id: 's' })).sessions).toMatchObject([{ seq }]);
});

test('a repair that would change nothing is refused with the reason', async () => {
  const { post } = await failed();
  const unknown = await post('/v1/sessions/s/outcomes', { callId: 'r/refund', happened: true });
  expect(unknown).toMatchObject({ status: 409, body: { code: 'not_resolvable' } });
  expect(unknown.body.detail).toContain('no call or effect with this id');
  const told = { callId: 'r/charge', happened: true };
  expect((await post('/v1/sessions/s/outcomes', told)).status).toBe(200);
  expect(await post('/v1/sessions/s/outcomes', told)).toMatchObject({
    status: 409,
    body: { code: 'not_resolvable', detail: expect.stringContaining('told it already') },
  });
  expect(await post('/v1/sessions/s/reopen', {})).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', detail: expect.stringContaining('body.reason') },
  });
  expect(await post('/v1/sessions/s/reopen', { path: 'r/no', reason: 'Fixed' })).toMatchObject({
    status: 409,
    body: { code: 'not_reopenable' },
  });
  for (const [path, body] of [
    ['outcomes', told],
    ['reopen', { reason: 'Fixed' }],
  ])
    expect(await post(`/v1/sessions/nowhere/${path}`, body)).toMatchObject({
      status: 404,
      body: { code: 'session_not_found' },
    });
});
