import { eventually } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { stores } from './stores.ts';
import { working } from './working-run.ts';

describe.each(stores)('runs on %s', (_name, makeStore) => {
  test('are cancelled by name, and no other with them', async () => {
    const { get, post, begun } = working(makeStore());
    await post('/v1/sessions', { id: 's' });
    await post('/v1/sessions/s/runs', { agent: 'quick', input: 'Hi', id: 'first' });
    await get('/v1/sessions/s/runs/first?wait=20000');
    await post('/v1/sessions/s/runs', { agent: 'slow', id: 'second' });
    await begun;
    expect(await post('/v1/sessions/s/runs/first/cancel')).toMatchObject({
      status: 409,
      body: { code: 'run_ended' },
    });
    expect((await get('/v1/sessions/s/runs/second')).body.status).toBe('running');
    expect((await post('/v1/sessions/s/runs/second/cancel', { reason: 'Enough.' })).status).toBe(
      202,
    );
    expect((await get('/v1/sessions/s/runs/second?wait=20000')).body).toMatchObject({
      status: 'cancelled',
      error: { message: 'Enough.' },
    });
    expect(await post('/v1/sessions/s/runs/third/cancel')).toMatchObject({
      status: 404,
      body: { code: 'run_not_found' },
    });
  });

  test(
    'that wait for somebody are not said to wait any more when their cancel is ' + 'on its way',
    async () => {
      const store = makeStore();
      const { get, post, app } = working(store);
      const { session, links } = (
        await post('/v1/runs', { agent: 'asking', input: 'Pay', id: 'r' })
      ).body;
      await get(`${links['run']}?wait=20000`);
      // Nobody who works on the session has heard of it yet.
      const item = { lane: 'control', by: 'operator', at: 1, type: 'cancel' } as const;
      const ledgers = store.for({ tenant: app.tenant, app: app.app });
      await ledgers.post(session, { ...item, key: 'other', data: { runId: 'another' } });
      await ledgers.post(session, { ...item, key: 'own', data: { runId: 'r' } });
      expect((await get(links['run'] ?? '')).body.status).not.toBe('waiting');
      await app.resume(session);
      expect((await get(`${links['run']}?wait=20000`)).body.status).toBe('cancelled');
    },
  );

  test('get messages, are paused, continued and cancelled with their session', async () => {
    const { get, post, begun, goOn, app } = working(makeStore());
    await post('/v1/sessions', { id: 's' });
    await post('/v1/sessions/s/runs', { agent: 'slow', id: 'r' });
    await begun;
    expect((await post('/v1/sessions/s/messages', { text: 'And this', key: 'k' })).body).toEqual({
      session: 's',
      status: 'accepted',
    });
    await post('/v1/sessions/s/messages', { text: 'And this', key: 'k' });
    const { ledger } = await app.sessions.open({ id: 's' });
    const messages = () =>
      ledger.events.filter((event) => event.type === 'user' && event.text === 'And this');
    await eventually(() => messages().length > 0, { what: 'the message' });
    expect(messages()).toMatchObject([{ by: 'operator', clientKey: 'k' }]);
    expect((await post('/v1/sessions/s/pause')).status).toBe(202);
    goOn();
    const rested = await get('/v1/sessions/s/runs/r?wait=20000');
    expect(['waiting', 'completed']).toContain(rested.body.status);
    if (rested.body.status === 'waiting')
      expect((await post('/v1/sessions/s/continue')).body).toMatchObject({ id: 'r' });
    expect((await get('/v1/sessions/s/runs/r?wait=20000')).body.status).toBe('completed');
    expect(await post('/v1/sessions/s/continue')).toMatchObject({
      status: 409,
      body: { code: 'no_open_run' },
    });
    expect((await post('/v1/sessions/s/cancel', { reason: 'Never mind.' })).status).toBe(202);
  });

  test('are interrupted, and continued or paused after it', async () => {
    const { get, post, begun, goOn, app } = working(makeStore());
    await post('/v1/sessions', { id: 's' });
    await post('/v1/sessions/s/runs', { agent: 'slow', id: 'r' });
    await begun;
    const wrong = await post('/v1/sessions/s/interrupt', { next: 'stop' });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect((await post('/v1/sessions/nobody/interrupt')).status).toBe(404);
    const given = await post('/v1/sessions/s/interrupt', { reason: 'Too long.' });
    expect(given).toMatchObject({ status: 202, body: { session: 's', status: 'accepted' } });
    const { ledger } = await app.sessions.open({ id: 's' });
    const told = () =>
      ledger.events.find((event) => event.type === 'decision' && event.component === 'run');
    await eventually(() => told() !== undefined, { what: 'the interruption' });
    goOn();
    expect(told()).toMatchObject({
      by: 'operator',
      component: 'run',
      decision: 'pause',
      reasoning: 'Too long.',
    });
    const { status } = (await get('/v1/sessions/s/runs/r?wait=20000')).body;
    expect(['waiting', 'completed']).toContain(status);
  });

  test('with parts that are no text are told that a message is text', async () => {
    const { get, post } = working(makeStore());
    await post('/v1/sessions', { id: 's' });
    const before = (await get('/v1/sessions/s/events')).body;
    const image = { type: 'file', url: 'data:image/png;base64,AA==' };
    const refused = (path: string, body: object, message: string) =>
      expect(post(path, body)).resolves.toMatchObject({
        status: 400,
        body: { code: 'invalid_request', detail: expect.stringContaining(message) },
      });
    const aMessageIsText = 'a message is text, and files and images do not reach the model';
    await refused(
      '/v1/sessions/s/runs',
      { agent: 'quick', input: 'Hi', parts: [image] },
      aMessageIsText,
    );
    await refused('/v1/runs', { agent: 'quick', input: 'Hi', files: [image] }, aMessageIsText);
    await refused(
      '/v1/runs',
      { agent: 'quick', input: [{ type: 'text', text: 'Hi' }] },
      'body.input: must be a string: a message is text, so join the texts of parts; files and ' +
        'images do not reach the model',
    );
    await refused('/v1/sessions/s/messages', { text: 'Hi', parts: [image] }, aMessageIsText);
    expect((await get('/v1/sessions/s/events')).body).toEqual(before);
  });
});
