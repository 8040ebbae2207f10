import { client, type Moment } from '@adjutant/server/client';
import { describe, expect, test } from 'vitest';
import { stores } from '../rest/stores.ts';
import { shop } from './shop.ts';

describe.each(stores)('a moment on %s', (_name, makeStore) => {
  test('is state, requests, usage and invocations in one answer, at every event', async () => {
    const { app, boss, get } = shop(makeStore());
    const session = await app.sessions.create({ id: 's', userId: 'ann' });
    await app.run(boss, { session, input: 'Look.', runId: 'run' });
    const { last } = (await get('/v1/sessions/s/moment')).body;
    const pending = await app.requests.list({ session: 's', status: 'pending' });
    for (let at = 0; at <= last; at++) {
      const { status, body } = await get(`/v1/sessions/s/moment?at=${at}`);
      expect(status).toBe(200);
      const moment = body as unknown as Moment;
      const { invocationTree, ...state } = (await get(`/v1/sessions/s/state?at=${at}`))
        .body as unknown as { readonly invocationTree: readonly { readonly status: string }[] };
      expect(moment).toMatchObject({ at, last, state });
      const { events } = (await get(`/v1/sessions/s/events?after=${Math.max(0, at - 1)}&limit=1`))
        .body;
      expect(moment.event).toEqual(at === 0 ? undefined : events[0]);
      expect(moment.invocations.length > 0).toBe(invocationTree.length > 0);
    }
    const end = (await get(`/v1/sessions/s/moment`)).body as unknown as Moment;
    // The row was made right before its event, perhaps a millisecond earlier.
    const createdAt = expect.any(Number);
    expect(end.requests).toEqual(pending.map((one) => ({ ...one, createdAt })));
    expect(end.invocations).toMatchObject([
      { id: 'run', kind: 'agent', name: 'boss', agent: 'boss', status: 'yielded', start: 4 },
    ]);
    const { total } = (await get('/v1/usage?session=s')).body;
    expect(end.usage).toEqual(total);
    expect(end.usage).toMatchObject({ calls: 5, usage: { inputTokens: 500, outputTokens: 50 } });
  });
});

test('a moment names what its event has changed, and the client has it', async () => {
  const { app, boss, api } = shop();
  await app.run(boss, { session: 's', input: 'Look.' });
  const { sessions } = client({
    url: 'http://localhost',
    fetch: (input, init) => api.fetch(new Request(input, init)),
  });
  const { events } = await sessions.eventPage('s', { limit: 100 });
  const wrote = events.find(({ type }) => type === 'state_change');
  const moment = await sessions.moment('s', { at: wrote?.seq ?? 0 });
  expect(moment.changes).toMatchObject([{ scope: 'session', key: 'noted', after: 'not there' }]);
  expect(moment.state.sessionState).toEqual({ noted: 'not there' });
  expect((await sessions.moment('s')).changes).toEqual([]);
});

test('a moment of a fork counts what the fork has used', async () => {
  const { app, boss, get, post } = shop();
  await app.run(boss, { session: 's', input: 'Look.' });
  await post('/v1/sessions/s/fork', { id: 'fork' });
  const { last, usage } = (await get('/v1/sessions/fork/moment')).body as unknown as Moment;
  expect(usage.calls).toBe(0);
  const shared = (await get(`/v1/sessions/fork/moment?at=${last - 1}`)).body as unknown as Moment;
  expect(shared.usage.calls).toBe(5);
});

test('a moment is refused', async () => {
  const { app, boss, get } = shop();
  await app.run(boss, { session: 's', input: 'Look.' });
  const { last } = (await get('/v1/sessions/s/moment')).body;
  expect(await get(`/v1/sessions/s/moment?at=${last + 1}`)).toMatchObject({
    status: 400,
    body: { code: 'seq_out_of_range' },
  });
  for (const query of ['at=-1', 'at=last', 'values=some', 'seq=1'])
    expect((await get(`/v1/sessions/s/moment?${query}`)).status).toBe(400);
  expect(await get('/v1/sessions/nowhere/moment')).toMatchObject({
    status: 404,
    body: { code: 'session_not_found' },
  });
});
