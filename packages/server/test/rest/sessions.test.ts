import { agent, memoryStore, runtime, type Store } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { callerOf } from './caller.ts';
import { stores } from './stores.ts';

function talking(store: Store) {
  const support = agent({ name: 'support', model: roundModel([{ text: 'Hello.' }]) });
  const app = runtime({ app: 'shop', store, runnables: [support] });
  return { app, support, ...callerOf(app) };
}

describe.each(stores)('sessions on %s', (_name, makeStore) => {
  test('are made, looked at, listed and deleted', async () => {
    const { get, post, delete: remove } = talking(makeStore());
    const made = await post('/v1/sessions', {
      id: 'order 7/8',
      user: 'ann',
      scopes: { patient: 'p1' },
    });
    expect(made.status).toBe(201);
    expect(made.headers.get('location')).toBe('/v1/sessions/order%207%2F8');
    expect(made.body).toMatchObject({ id: 'order 7/8', user: 'ann', status: 'active' });
    const found = await get(made.headers.get('location') ?? '');
    expect(found.body).toMatchObject({ id: 'order 7/8', waiting: 0 });
    expect((await get('/v1/sessions')).body.sessions.map(({ id }) => id)).toEqual(['order 7/8']);
    const gone = await remove('/v1/sessions/order%207%2F8');
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await get('/v1/sessions/order%207%2F8')).body.code).toBe('session_not_found');
    expect((await remove('/v1/sessions/order%207%2F8')).status).toBe(404);
  });

  test('are made once under one id', async () => {
    const { post } = talking(makeStore());
    const answers = await Promise.all([
      post('/v1/sessions', { id: 's' }),
      post('/v1/sessions', { id: 's' }),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('session_exists');
  });

  test('get an id when none is given, and take part in what they are bound to', async () => {
    const { app, post, get } = talking(makeStore());
    const { body } = await post('/v1/sessions', {
      scopes: { user: 'ann', patient: 'p1' },
      permissions: ['fs:read'],
    });
    expect(body).toMatchObject({ user: 'ann' });
    const session = await app.sessions.open({ id: body.id });
    expect(session.shared.names.toSorted()).toEqual(['patient', 'user']);
    const { events } = (await get(`/v1/sessions/${body.id}/events`)).body;
    expect(
      events.find(({ type, decision }) => type === 'decision' && decision === 'grant'),
    ).toMatchObject({ data: { permissions: ['fs:read'] } });
  });

  test('are listed by page, newest first, and narrowed', async () => {
    const { post, get, app, support } = talking(makeStore());
    for (const id of ['a', 'b', 'c', 'd', 'e'])
      await post('/v1/sessions', { id, user: id < 'c' ? 'ann' : 'bob' });
    await app.run(support, { session: 'b', input: 'Hi' });
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await get(
        `/v1/sessions?order=createdAt&limit=2${cursor === undefined ? '' : `&cursor=${cursor}`}`,
      );
      pages.push(page.body.sessions.map(({ id }) => id));
      cursor = page.body.cursor;
    } while (cursor !== undefined);
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(pages.flat().toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
    const ids = async (query: string) =>
      (await get(`/v1/sessions?${query}`)).body.sessions.map(({ id }) => id).toSorted();
    expect(await ids('user=ann')).toEqual(['a', 'b']);
    expect(await ids('status=completed')).toEqual(['b']);
    expect(await ids('agent=support')).toEqual(['b']);
    expect(await ids('agent=other')).toEqual([]);
  });

  test('are forked at a place, and go their own way', async () => {
    const { post, get, app, support } = talking(makeStore());
    await app.run(support, { session: 's', input: 'Hi' });
    const whole = await post('/v1/sessions/s/fork');
    expect(whole.status).toBe(201);
    expect(whole.body).toMatchObject({ agent: 'support' });
    const part = await post('/v1/sessions/s/fork', { at: 1, id: 'early', shared: 'live' });
    expect([part.status, part.headers.get('location')]).toEqual([201, '/v1/sessions/early']);
    const { events } = (await get('/v1/sessions/early/events')).body;
    expect(events.map(({ type }) => type)).toEqual(['user', 'decision']);
    expect((await post('/v1/sessions/s/fork', { id: 'early' })).body.code).toBe('session_exists');
    expect(await post('/v1/sessions/s/fork', { at: 1_000 })).toMatchObject({
      status: 400,
      body: { code: 'seq_out_of_range' },
    });
    expect((await post('/v1/sessions/nowhere/fork')).status).toBe(404);
  });

  test('are erased with their forks', async () => {
    const { post, get, delete: remove, app, support } = talking(makeStore());
    await app.run(support, { session: 's', input: 'Hi' });
    await post('/v1/sessions/s/fork', { id: 'fork' });
    expect((await remove('/v1/sessions/s?erase=yes')).status).toBe(400);
    expect((await remove('/v1/sessions/s?erase=true')).status).toBe(204);
    expect((await get('/v1/sessions')).body.sessions).toEqual([]);
  });

  test('show their state at every place, their events by page and their conversation', async () => {
    const { get, app, support } = talking(makeStore());
    await app.run(support, { session: 's', input: 'Hi' });
    const { last } = (await get('/v1/sessions/s/events?limit=1')).body;
    const events = (await app.sessions.open({ id: 's' })).events;
    expect(last).toBe(events.length);
    const told: unknown[] = [];
    for (let after = 0; after < last; ) {
      const page = await get(`/v1/sessions/s/events?after=${after}&limit=2`);
      told.push(...page.body.events);
      after = page.body.next;
    }
    expect(told).toEqual(JSON.parse(JSON.stringify(events)));
    expect((await get(`/v1/sessions/s/events?after=${last}`)).body).toEqual({
      events: [],
      next: last,
      last,
    });
    expect(await get(`/v1/sessions/s/events?after=${last + 1}`)).toMatchObject({
      status: 400,
      body: { code: 'seq_out_of_range' },
    });
    expect((await get('/v1/sessions/s/state?at=0')).body).toMatchObject({
      seq: 0,
      status: 'active',
      invocationTree: [],
    });
    expect((await get('/v1/sessions/s/state')).body).toMatchObject({
      seq: last,
      status: 'completed',
      currentAgentName: 'support',
    });
    expect((await get(`/v1/sessions/s/state?at=${last + 1}`)).status).toBe(400);
    expect((await get('/v1/sessions/s/transcript')).body).toMatchObject({
      entries: [
        { kind: 'user', text: 'Hi' },
        { kind: 'assistant', agent: 'support', text: 'Hello.' },
      ],
    });
  });

  test('give large values as references, or as they are', async () => {
    const { get, app, support } = talking(makeStore());
    const long = 'long '.repeat(20_000);
    await app.run(support, { session: 's', input: long });
    const said = async (query: string) =>
      (await get(`/v1/sessions/s/events?${query}`)).body.events.find(
        ({ type }) => type === 'user',
      )?.['text'];
    expect(await said('')).toMatchObject({ size: JSON.stringify(long).length });
    expect(await said('values=full')).toBe(long);
    expect((await get('/v1/sessions/s/transcript')).text).toContain(long);
  });
});

describe('a session', () => {
  test(
    'gives so many large values as a server can, also of what names one of them ' + 'many times',
    async () => {
      const { get, post, app, support } = talking(memoryStore());
      await app.run(support, { session: 's', input: 'x'.repeat(900_000) });
      const { events } = (await get('/v1/sessions/s/events')).body;
      const named = {
        ...(events.find(({ type }) => type === 'user')?.['text'] as object),
        preview: '',
      };
      await post('/v1/sessions/s/runs', {
        agent: 'support',
        input: 'Hi',
        data: Array.from({ length: 60 }, () => named),
        id: 'r',
      });
      await get('/v1/sessions/s/runs/r?wait=20000');
      const seqs: number[] = [];
      const { last } = (await get('/v1/sessions/s/events?limit=1')).body;
      for (let after = 0; after < last; ) {
        const page = await get(`/v1/sessions/s/events?values=full&after=${after}`);
        expect(page.text.length).toBeLessThan(40_000_000);
        seqs.push(...page.body.events.map(({ seq }) => seq));
        after = page.body.next;
      }
      expect(seqs).toEqual(Array.from({ length: last }, (_, index) => index + 1));
    },
  );

  test.each([
    ['id', { id: '' }],
    ['id', { id: 'line\nbreak' }],
    ['id', { id: 'x'.repeat(257) }],
    ['id', { id: '..' }],
    ['scopes.user', { user: 'ann', scopes: { user: 'ann' } }],
    ['nonsense', { nonsense: 1 }],
  ])('is not made with a bad %s', async (place, body) => {
    const app = runtime({ app: 'shop' });
    const { post, get } = callerOf(app);
    const refused = await post('/v1/sessions', body);
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request']);
    expect(refused.body.detail).toContain(place);
    expect((await get('/v1/sessions')).body.sessions).toEqual([]);
  });

  test.each([
    'limit=0',
    'limit=1001',
    'limit=x',
    'order=size',
    'status=asleep',
    'nonsense=1',
    'cursor=',
  ])('list refuses %s', async (query) => {
    const { get } = callerOf(runtime({ app: 'shop' }));
    expect(await get(`/v1/sessions?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  });

  test('list refuses a cursor of another order', async () => {
    const app = runtime({ app: 'shop' });
    const { get, post } = callerOf(app);
    for (const id of ['a', 'b']) await post('/v1/sessions', { id });
    const { cursor } = (await get('/v1/sessions?limit=1')).body;
    expect(await get(`/v1/sessions?order=createdAt&cursor=${cursor}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_cursor' },
    });
  });
});
