import { event, trigger } from 'adjutant/triggers';
import { expect, onTestFinished, test } from 'vitest';
import { ApiKeys } from '../../src/access/api-keys.ts';
import { client } from '../../src/client/index.ts';
import { serve, server } from '../../src/index.ts';
import { callerOf } from '../rest/caller.ts';
import { garden, keyed, worked } from './garden.ts';

const onRain = () =>
  garden((start) => [trigger({ name: 'on-rain', on: event('rain.*'), start, overlap: 'queue' })]);
const rain = { type: 'rain.ended', source: 'gauge', data: { mm: 3 } };

test('an event is published, and fires the triggers on it once', async () => {
  const { app, watered } = onRain();
  await worked(app);
  const { post } = callerOf(app);
  for (const _ of [1, 2])
    expect(await post('/v1/events', { ...rain, id: 'rain-17' })).toMatchObject({
      status: 202,
      body: { id: 'rain-17' },
    });
  await worked(app);
  expect(watered).toEqual([{ mm: 3 }]);
});

test('a repeated request publishes one event', async () => {
  const { app, watered } = onRain();
  await worked(app);
  const { post } = callerOf(app);
  const again = { 'idempotency-key': 'once' };
  const first = await post('/v1/events', rain, again);
  expect((await post('/v1/events', rain, again)).body).toEqual(first.body);
  await worked(app);
  expect(watered).toEqual([{ mm: 3 }]);
});

test('a client publishes', async () => {
  const { app, watered } = onRain();
  await worked(app);
  const listening = await serve(app, { port: 0 });
  onTestFinished(() => listening.close({ closeApp: true }));
  const { publish } = client({ url: listening.url });
  expect(await publish({ type: 'rain.began', id: 'rain-1' })).toEqual({ id: 'rain-1' });
  await expect(publish({ type: 'rain began' })).rejects.toMatchObject({
    code: 'invalid_bus_event',
  });
  await worked(app);
  expect(watered).toEqual([null]);
});

test.each<[string, object, string]>([
  ['no type', { data: 1 }, 'invalid_request'],
  ['a type that is none', { type: 'a b' }, 'invalid_bus_event'],
  ['a pattern', { type: 'rain.*' }, 'invalid_bus_event'],
  ['an unknown member', { type: 'a', by: 'user:eve' }, 'invalid_request'],
  ['an instant of its own', { type: 'a', at: 1 }, 'invalid_request'],
  ['a long id', { type: 'a', id: 'x'.repeat(201) }, 'invalid_request'],
  ['large data', { type: 'a', data: 'x'.repeat(70_000) }, 'invalid_bus_event'],
])('%s is refused', async (_what, body, code) => {
  const { app } = onRain();
  const { post } = callerOf(app);
  expect(await post('/v1/events', body)).toMatchObject({ status: 400, body: { code } });
});

test('only operators of the whole tenant publish, and only to their tenant', async () => {
  const { app, watered } = onRain();
  await worked(app);
  const api = server(app, { auth: {} });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const keys = new ApiKeys(app);
  for (const bound of [{ user: 'ann' }, { agents: ['weed'] }]) {
    const { post } = await keyed(api, keys, bound);
    expect(await post('/v1/events', rain)).toMatchObject({
      status: 403,
      body: { code: 'bound_credential' },
    });
  }
  const viewer = await keyed(api, keys, { roles: ['viewer'] });
  expect(await viewer.post('/v1/events', rain)).toMatchObject({
    status: 403,
    body: { code: 'forbidden' },
  });
  const other = await keyed(api, keys, { tenant: 'other' });
  expect((await other.post('/v1/events', rain)).status).toBe(202);
  await worked(app);
  expect((await app.triggers.get('on-rain')).fired).toBe(0);
  expect(watered).toEqual([]);
});
