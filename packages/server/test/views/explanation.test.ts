import { client } from '@adjutant/server/client';
import { explainTo } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { stores } from '../rest/stores.ts';
import { shop } from './shop.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe.each(stores)('an explanation on %s', (_name, makeStore) => {
  test('is that of the run, for each reader and at any event', async () => {
    const { app, boss, helper, api } = shop(makeStore());
    await app.run(helper, { session: 's', input: 'Look.', runId: 'first' });
    await app.run(boss, { session: 's', input: 'Look again.', runId: 'second' });
    const session = await app.sessions.open({ id: 's', observe: false });
    const at = session.events.length;
    const { sessions } = client({
      url: 'http://localhost',
      fetch: (input, init) => api.fetch(new Request(input, init)),
    });
    expect(await sessions.explanation('s')).toEqual({
      for: 'developer',
      run: 'second',
      at,
      explanation: plain(explainTo('developer', session)),
    });
    expect(await sessions.explanation('s', { for: 'user', run: 'first' })).toEqual({
      for: 'user',
      run: 'first',
      at,
      text: explainTo('user', session, { run: 'first' }),
    });
    const upTo = at - 3;
    expect(await sessions.explanation('s', { for: 'auditor', at: upTo })).toEqual({
      for: 'auditor',
      run: 'second',
      at: upTo,
      trace: plain(explainTo('auditor', session, { upTo })),
    });
  });
});

test('an explanation is refused', async () => {
  const { app, boss, get } = shop();
  await app.run(boss, { session: 's', input: 'Look.', runId: 'run' });
  for (const query of ['run=other', 'at=0', 'run=run&at=1'])
    expect(await get(`/v1/sessions/s/explanation?${query}`)).toMatchObject({
      status: 404,
      body: { code: 'run_not_found' },
    });
  expect(await get('/v1/sessions/s/explanation?at=10000')).toMatchObject({
    status: 400,
    body: { code: 'seq_out_of_range' },
  });
  for (const query of ['for=model', 'at=-1', 'run=', 'component=request'])
    expect((await get(`/v1/sessions/s/explanation?${query}`)).status).toBe(400);
  expect(await get('/v1/sessions/nowhere/explanation')).toMatchObject({
    status: 404,
    body: { code: 'session_not_found' },
  });
});
