import { memoryStore, type Runtime, runtime, step } from 'adjutant';
import { noticeHub, notifications, streamChannel } from 'adjutant/notifications';
import { expect, onTestFinished, test } from 'vitest';
import { ApiKeys } from '../../src/access/api-keys.ts';
import { type AdjutantServer, type ServerOptions, server } from '../../src/index.ts';
import { callerOf } from '../rest/caller.ts';
import { SseReader } from '../stream/sse-reader.ts';
import { keyed } from '../triggers/garden.ts';

/** An app whose notices go to open pages, and its server. */
function post(options: ServerOptions = {}): {
  readonly app: Runtime;
  readonly api: AdjutantServer;
  readonly keys: ApiKeys;
} {
  const hub = noticeHub();
  const app = runtime({
    app: 'desk',
    store: memoryStore(),
    recover: 'manual',
    runnables: [step({ name: 'report', execute: (ctx) => ctx.complete('done') })],
    notifications: notifications({ channels: [streamChannel(hub)] }),
  });
  const api = server(app, { auth: {}, notices: hub, ...options });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  return { app, api, keys: new ApiKeys(app) };
}

async function streamOf(
  api: AdjutantServer,
  keys: ApiKeys,
  bound: object,
): Promise<{ readonly response: Response; readonly reader: SseReader }> {
  const { credential } = await keys.create({ name: 'page', roles: ['user'], ...bound });
  const response = await api.fetch(
    new Request('http://localhost/v1/notices/stream', {
      headers: { authorization: `Bearer ${credential}` },
    }),
  );
  return { response, reader: new SseReader(response) };
}

test('a notice is sent once, to the open pages of its user alone', async () => {
  const { app, api, keys } = post();
  const { reader: ann } = await streamOf(api, keys, { user: 'ann' });
  const { reader: bob } = await streamOf(api, keys, { user: 'bob' });
  const { reader: stranger } = await streamOf(api, keys, { user: 'ann', tenant: 'other' });
  const operator = await keyed(api, keys);
  const rain = { user: 'ann', title: 'Rain', text: 'It rains.', id: 'rain-1' };
  for (const _ of [1, 2])
    expect(await operator.post('/v1/notices', rain)).toMatchObject({
      status: 202,
      body: { id: 'rain-1' },
    });
  await app.recovery.resumeStopped();
  expect(await ann.next()).toMatchObject({
    event: 'notice',
    data: { id: 'rain-1', user: 'ann', title: 'Rain', text: 'It rains.' },
  });
  // Theirs is the first that they see.
  await operator.post('/v1/notices', { user: 'bob', title: 'Sun' });
  const elsewhere = await keyed(api, keys, { tenant: 'other' });
  await elsewhere.post('/v1/notices', { user: 'ann', title: 'Snow' });
  await app.recovery.resumeStopped();
  await app.tenants.get('other').recovery.resumeStopped();
  expect(await bob.next()).toMatchObject({ data: { title: 'Sun' } });
  expect(await stranger.next()).toMatchObject({ data: { title: 'Snow' } });
});

test.each<[string, object, number, string]>([
  ['no user', { title: 'x' }, 400, 'invalid_request'],
  ['no title', { user: 'ann' }, 400, 'invalid_request'],
  ['a long text', { user: 'ann', title: 'x', text: 'x'.repeat(10_001) }, 400, 'invalid_request'],
  ['an unknown channel', { user: 'ann', title: 'x', channels: ['fax'] }, 400, 'invalid_option'],
  [
    'a link that runs',
    { user: 'ann', title: 'x', actions: [{ label: 'x', url: 'javascript:alert(1)' }] },
    ...([400, 'invalid_request'] as const),
  ],
  [
    'a session that is not there',
    { user: 'ann', title: 'x', about: { session: 'none' } },
    ...([404, 'session_not_found'] as const),
  ],
])('%s is refused, and nothing is sent', async (_what, body, status, code) => {
  const { app, api, keys } = post();
  const operator = await keyed(api, keys);
  expect(await operator.post('/v1/notices', body)).toMatchObject({ status, body: { code } });
  expect(await app.notifications.history('ann')).toEqual([]);
});

test('a caller that is bound to a user sends to nobody else, and viewers send none', async () => {
  const { app, api, keys } = post();
  const bob = await keyed(api, keys, { user: 'bob' });
  expect(await bob.post('/v1/notices', { user: 'ann', title: 'x' })).toMatchObject({
    status: 403,
    body: { code: 'other_user' },
  });
  expect((await bob.post('/v1/notices', { user: 'bob', title: 'x' })).status).toBe(202);
  const viewer = await keyed(api, keys, { roles: ['viewer'] });
  expect(await viewer.post('/v1/notices', { user: 'ann', title: 'x' })).toMatchObject({
    status: 403,
    body: { code: 'forbidden' },
  });
  expect(await app.notifications.history('ann')).toEqual([]);
});

test('a list shows a user what has become of their notices, page after page', async () => {
  const { app, api, keys } = post();
  const operator = await keyed(api, keys);
  for (const title of ['Rain', 'Sun', 'Snow']) {
    await operator.post('/v1/notices', { user: 'ann', title, urgent: true });
    await app.recovery.resumeStopped();
  }
  const ann = await keyed(api, keys, { user: 'ann', roles: ['user'] });
  const first = await ann.get('/v1/notices?limit=2');
  expect(first).toMatchObject({
    status: 200,
    body: {
      notices: [
        { title: 'Snow', user: 'ann', status: 'dropped' },
        { title: 'Sun', user: 'ann', status: 'dropped' },
      ],
      cursor: expect.any(String),
    },
  });
  const { cursor } = first.body as { readonly cursor: string };
  const second = await operator.get(`/v1/notices?user=ann&limit=2&cursor=${cursor}`);
  expect(second).toMatchObject({
    body: {
      notices: [
        {
          ...{ title: 'Rain', status: 'dropped', reason: 'failed' },
          attempts: [{ channel: 'stream', outcome: 'failed' }],
        },
      ],
    },
  });
  expect(second.body).not.toHaveProperty('cursor');
  expect(await ann.get('/v1/notices?cursor=next')).toMatchObject({
    status: 400,
    body: { code: 'invalid_cursor' },
  });
});

test('notices are read by their user, and by those who name one', async () => {
  const { api, keys } = post();
  const refused: readonly [object, string, string][] = [
    [{}, '/v1/notices', 'user_needed'],
    [{ agents: ['report'] }, '/v1/notices?user=ann', 'user_needed'],
    [{ user: 'bob' }, '/v1/notices?user=ann', 'other_user'],
  ];
  for (const [bound, path, code] of refused) {
    const { get } = await keyed(api, keys, bound);
    expect(await get(path)).toMatchObject({ status: 403, body: { code } });
  }
  const bob = await keyed(api, keys, { user: 'bob' });
  expect(await bob.get('/v1/notices')).toMatchObject({ status: 200, body: { notices: [] } });
  expect(await bob.get('/v1/notices?limit=501')).toMatchObject({ status: 400 });
  const { get } = callerOf(runtime({ app: 'bare', recover: 'manual' }));
  expect(await get('/v1/notices?user=ann')).toMatchObject({
    status: 409,
    body: { code: 'notifications_unavailable' },
  });
});

test('the stream is for a user, of a server with a hub', async () => {
  const { api, keys } = post();
  for (const bound of [{}, { user: 'ann', agents: ['report'] }]) {
    const { get } = await keyed(api, keys, bound);
    expect(await get('/v1/notices/stream')).toMatchObject({
      status: 403,
      body: { code: 'user_needed' },
    });
  }
  const { get, post: send } = callerOf(runtime({ app: 'bare', recover: 'manual' }));
  expect(await get('/v1/notices/stream')).toMatchObject({
    status: 409,
    body: { code: 'notice_stream_unavailable' },
  });
  expect(await send('/v1/notices', { user: 'ann', title: 'x' })).toMatchObject({
    status: 409,
    body: { code: 'notifications_unavailable' },
  });
});

test('the stream of an open page ends when the server closes', async () => {
  const { api, keys } = post();
  const { reader } = await streamOf(api, keys, { user: 'ann' });
  await api.close();
  expect(await reader.next()).toBeUndefined();
});
