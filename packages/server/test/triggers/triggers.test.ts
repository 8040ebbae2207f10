import { memoryStore, runtime } from 'adjutant';
import { condition, cron, event, trigger } from 'adjutant/triggers';
import { expect, onTestFinished, test } from 'vitest';
import { ApiKeys } from '../../src/access/api-keys.ts';
import { server } from '../../src/index.ts';
import { type Answered, type Caller, callerOf } from '../rest/caller.ts';
import { garden, keyed, worked } from './garden.ts';

interface TriggerBody {
  readonly name: string;
  readonly status: string;
  readonly nextAt: number;
  readonly triggers: readonly TriggerBody[];
  readonly instants: readonly number[];
  readonly history: readonly { readonly decision: string; readonly by: string }[];
}

function bodyOf({ body }: Answered): TriggerBody {
  return body as unknown as TriggerBody;
}

const patch = ({ send }: Caller, path: string, body: unknown): Promise<Answered> =>
  send(path, {
    method: 'PATCH',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
const hourly = { name: 'hourly', on: { kind: 'every', everyMs: 3_600_000 }, start: 'water' };

test('a trigger is made, listed, changed, previewed, fired and deleted', async () => {
  const { app, watered } = garden();
  const caller = callerOf(app);
  const { delete: remove, get, post } = caller;
  const made = await post('/v1/triggers', {
    ...hourly,
    description: 'Roses',
    notify: { user: 'ann', channels: ['mail'] },
  });
  expect(made).toMatchObject({
    status: 201,
    body: {
      ...{ name: 'hourly', status: 'active', start: 'water', overlap: 'skip', revision: 1 },
      on: { kind: 'every', everyMs: 3_600_000, jitterMs: 0 },
      ...{ description: 'Roses', notify: { user: 'ann', channels: ['mail'] } },
    },
  });
  expect(made.headers.get('location')).toBe('/v1/triggers/hourly');
  expect(await get('/v1/triggers/hourly')).toMatchObject({ status: 200, body: made.body });
  expect(bodyOf(await get('/v1/triggers')).triggers).toEqual([made.body]);

  const changed = await patch(caller, '/v1/triggers/hourly', {
    on: { kind: 'cron', pattern: '0 8 * * *', timeZone: 'Europe/Berlin' },
    description: null,
    input: 'Not the cacti.',
  });
  expect(changed).toMatchObject({
    status: 200,
    body: { revision: 2, on: { kind: 'cron' }, input: 'Not the cacti.', notify: { user: 'ann' } },
  });
  expect(changed.body).not.toHaveProperty('description');
  const { instants } = bodyOf(await get('/v1/triggers/hourly/preview?count=2'));
  expect(instants).toHaveLength(2);
  expect(instants[0]).toBe(bodyOf(changed).nextAt);

  for (const _ of [1, 2])
    expect(await post('/v1/triggers/hourly/fire', { key: 'now', reason: 'Dry.' })).toMatchObject({
      status: 202,
      body: { trigger: 'hourly', status: 'accepted' },
    });
  const { history } = bodyOf(await get('/v1/triggers/hourly/history?limit=1'));
  expect(history).toMatchObject([
    { decision: 'fire', by: 'operator', reasoning: expect.stringContaining('Reason: Dry.') },
  ]);
  await worked(app);
  expect(watered).toHaveLength(1);
  expect(bodyOf(await get('/v1/triggers/hourly'))).toMatchObject({
    fired: 1,
    last: { status: 'completed' },
  });
  expect((await remove('/v1/triggers/hourly')).status).toBe(202);
  await worked(app);
  expect(bodyOf(await get('/v1/triggers')).triggers).toEqual([]);
  expect(bodyOf(await get('/v1/triggers?status=deleted')).triggers).toMatchObject([
    { name: 'hourly', status: 'deleted' },
  ]);
});

test('a trigger is paused, resumed and disabled, and its history says by whom', async () => {
  const { app } = garden();
  const { get, post } = callerOf(app);
  await post('/v1/triggers', hourly);
  const act = async (verb: string): Promise<string> => {
    expect(await post(`/v1/triggers/hourly/${verb}`, { reason: 'Rain.' })).toMatchObject({
      status: 202,
    });
    return bodyOf(await get('/v1/triggers/hourly')).status;
  };
  expect([await act('pause'), await act('resume'), await act('disable')]).toEqual([
    ...['paused', 'active', 'disabled'],
  ]);
  expect(await post('/v1/triggers/hourly/pause')).toMatchObject({
    status: 409,
    body: { code: 'trigger_state', data: { status: 'disabled' } },
  });
  const { history } = bodyOf(await get('/v1/triggers/hourly/history?limit=3'));
  expect(history.map(({ by, decision }) => [decision, by])).toEqual([
    ['disable', 'operator'],
    ['resume', 'operator'],
    ['pause', 'operator'],
  ]);
});

test('a repeated request makes one trigger and one firing', async () => {
  const { app, watered } = garden();
  const { post } = callerOf(app);
  const again = { 'idempotency-key': 'once' };
  const [first, second] = [
    await post('/v1/triggers', hourly, again),
    await post('/v1/triggers', hourly, again),
  ];
  expect(second).toMatchObject({ status: 201, body: first.body });
  expect(await post('/v1/triggers', hourly)).toMatchObject({
    status: 409,
    body: { code: 'trigger_state' },
  });
  for (const _ of [1, 2])
    await post('/v1/triggers/hourly/fire', {}, { 'idempotency-key': 'fire-once' });
  await worked(app);
  expect(watered).toHaveLength(1);
});

test('a schedule is previewed before it is saved', async () => {
  const { app } = garden();
  const { post } = callerOf(app);
  const on = { kind: 'at', instant: '2999-06-01T15:00', timeZone: 'Europe/Berlin' };
  expect(await post('/v1/triggers/preview', { on })).toMatchObject({
    status: 200,
    body: { instants: [Date.parse('2999-06-01T13:00Z')] },
  });
  const often = { on: { kind: 'cron', pattern: '@hourly' }, count: 3 };
  expect(bodyOf(await post('/v1/triggers/preview', often)).instants).toHaveLength(3);
  expect(await app.triggers.list()).toEqual([]);
});

const at = (on: object): object => ({ ...hourly, on });

test.each<[string, string, object, number, string, string]>([
  ['no name', '', { ...hourly, name: undefined }, 400, 'invalid_request', 'body.name'],
  ['a long name', '', { ...hourly, name: 'x'.repeat(101) }, 400, 'invalid_request', 'body.name'],
  ['an unknown runnable', '', { ...hourly, start: 'wader' }, 404, 'agent_not_found', 'water'],
  ['an unknown member', '', { ...hourly, by: 'user:eve' }, 400, 'invalid_request', 'by'],
  ['a wrong overlap', '', { ...hourly, overlap: 'all' }, 400, 'invalid_request', 'overlap'],
  ['a wrong type', '', { ...hourly, mostPerHour: '5' }, 400, 'invalid_request', 'mostPerHour'],
  ['a short interval', '', at({ kind: 'every', everyMs: 5 }), 400, 'invalid_trigger', 'too short'],
  [
    'a pattern that is none',
    '',
    at({ kind: 'cron', pattern: 'often' }),
    ...([400, 'invalid_trigger', 'often'] as const),
  ],
  [
    'a pattern that never fires',
    '',
    at({ kind: 'cron', pattern: '0 8 30 2 *' }),
    ...([400, 'invalid_trigger', 'never fires'] as const),
  ],
  [
    'an unknown zone',
    '',
    at({ kind: 'cron', pattern: '0 8 * * *', timeZone: 'Berlin' }),
    ...([400, 'invalid_trigger', 'Europe/Berlin'] as const),
  ],
  ['a local time', '', at({ kind: 'at', instant: '2999-01-01T00:00' }), 400, 'invalid_trigger', ''],
  ['an event of no type', '', at({ kind: 'event', pattern: '' }), 400, 'invalid_trigger', ''],
  ['a webhook', '', at({ kind: 'webhook', secret: 'x' }), 400, 'invalid_request', 'in code'],
  ['no schedule', '/preview', { on: { kind: 'event' } }, 400, 'invalid_request', 'cron, every'],
  [
    'a previewed unknown zone',
    '/preview',
    { on: { kind: 'cron', pattern: '0 8 * * *', timeZone: 'Mars' } },
    ...([400, 'invalid_trigger', 'Mars'] as const),
  ],
  ['a command for none', '/none/pause', {}, 404, 'trigger_not_found', 'none'],
  ['a firing of none', '/none/fire', {}, 404, 'trigger_not_found', 'none'],
  ['a firing with an empty key', '/none/fire', { key: '' }, 400, 'invalid_request', 'key'],
  ['a wrong reason', '/none/pause', { reason: 7 }, 400, 'invalid_request', 'reason'],
])('%s is refused, and nothing is stored', async (_what, path, body, status, code, told) => {
  const { app } = garden();
  const { post } = callerOf(app);
  const answer = await post(`/v1/triggers${path}`, body);
  expect(answer).toMatchObject({ status, body: { code } });
  expect(answer.body.detail).toContain(told);
  expect(await app.triggers.list()).toEqual([]);
});

test('a query that is wrong, and a trigger that is not there, are refused', async () => {
  const { app } = garden();
  const caller = callerOf(app);
  const { delete: remove, get } = caller;
  for (const path of ['?status=open', '?limit=0', '?limit=2000', '?state=active'])
    expect((await get(`/v1/triggers${path}`)).status).toBe(400);
  for (const path of ['none', 'none/preview', 'none/history'])
    expect(await get(`/v1/triggers/${path}`)).toMatchObject({
      status: 404,
      body: { code: 'trigger_not_found' },
    });
  expect((await remove('/v1/triggers/none')).status).toBe(404);
  expect((await patch(caller, '/v1/triggers/none', {})).status).toBe(404);
});

test('a trigger that was deleted meanwhile cannot be changed, and its name is free', async () => {
  const { app } = garden();
  const caller = callerOf(app);
  const { delete: remove, get, post } = caller;
  await post('/v1/triggers', hourly);
  await remove('/v1/triggers/hourly');
  await worked(app);
  const gone = { status: 409, body: { code: 'trigger_state', data: { status: 'deleted' } } };
  for (const verb of ['pause', 'resume', 'disable', 'fire'])
    expect(await post(`/v1/triggers/hourly/${verb}`)).toMatchObject(gone);
  expect(await remove('/v1/triggers/hourly')).toMatchObject(gone);
  expect(await patch(caller, '/v1/triggers/hourly', { input: 'x' })).toMatchObject(gone);
  expect((await get('/v1/triggers/hourly/history')).status).toBe(200);
  expect(await post('/v1/triggers', hourly)).toMatchObject({ status: 201 });
});

test('a trigger of code is listed and controlled, and changed in code', async () => {
  const { app } = garden((start) => [
    trigger({ name: 'dry', on: condition(() => false, { every: '1h' }), start }),
    trigger({ name: 'noon', on: cron('0 12 * * *'), start }),
    trigger({ name: 'mail', on: event('mail.*'), start }),
  ]);
  await worked(app);
  const caller = callerOf(app);
  const { get, post } = caller;
  expect(
    bodyOf(await get('/v1/triggers'))
      .triggers.map(({ name }) => name)
      .sort(),
  ).toEqual([...['dry', 'mail', 'noon']]);
  expect(await patch(caller, '/v1/triggers/dry', { input: 'x' })).toMatchObject({
    status: 400,
    body: { code: 'invalid_trigger' },
  });
  expect(await get('/v1/triggers/dry/preview')).toMatchObject({
    status: 400,
    body: { code: 'invalid_trigger' },
  });
  expect((await post('/v1/triggers/dry/pause')).status).toBe(202);
});

test('an app without triggers says so', async () => {
  const app = runtime({ app: 'garden', store: memoryStore(), recover: 'manual' });
  const caller = callerOf(app);
  const { delete: remove, get, post } = caller;
  const on = { kind: 'cron', pattern: '@daily' };
  const answers = [
    await get('/v1/triggers'),
    await get('/v1/triggers/x'),
    await get('/v1/triggers/x/history'),
    await get('/v1/triggers/x/preview'),
    await post('/v1/triggers', hourly),
    await post('/v1/triggers/preview', { on }),
    await post('/v1/triggers/x/fire'),
    await post('/v1/triggers/x/pause'),
    await patch(caller, '/v1/triggers/x', {}),
    await remove('/v1/triggers/x'),
  ];
  for (const answer of answers)
    expect(answer).toMatchObject({ status: 409, body: { code: 'triggers_unavailable' } });
});

test('triggers are out of reach of other tenants, users and agents', async () => {
  const { app } = garden();
  const api = server(app, { auth: {} });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const keys = new ApiKeys(app);
  const ann = await keyed(api, keys, { user: 'ann' });
  const made = await ann.post('/v1/triggers', hourly);
  expect(made).toMatchObject({ status: 201, body: { requester: 'ann' } });
  expect(bodyOf(await ann.get('/v1/triggers')).triggers).toHaveLength(1);
  const { history } = bodyOf(await ann.get('/v1/triggers/hourly/history'));
  expect(history).toMatchObject([{ decision: 'declare', by: 'user:ann' }]);
  const strangers = [
    await keyed(api, keys, { tenant: 'other' }),
    await keyed(api, keys, { user: 'bob' }),
    await keyed(api, keys, { agents: ['weed'] }),
  ];
  for (const stranger of strangers) {
    const { delete: remove, get, post } = stranger;
    expect(bodyOf(await get('/v1/triggers')).triggers).toEqual([]);
    const answers = [
      await get('/v1/triggers/hourly'),
      await get('/v1/triggers/hourly/preview'),
      await get('/v1/triggers/hourly/history'),
      await post('/v1/triggers/hourly/pause'),
      await post('/v1/triggers/hourly/fire'),
      await patch(stranger, '/v1/triggers/hourly', { input: 'x' }),
      await remove('/v1/triggers/hourly'),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 404, body: { code: 'trigger_not_found' } });
      expect(answer.text).toContain('it has none');
    }
  }
  const [, bob, weeder] = strangers as [Caller, Caller, Caller];
  const other = { status: 403, body: { code: 'other_user' } };
  const mine = { ...hourly, name: 'mine' };
  expect(await bob.post('/v1/triggers', { ...mine, requester: 'ann' })).toMatchObject(other);
  expect(await bob.post('/v1/triggers', { ...mine, notify: { user: 'ann' } })).toMatchObject(other);
  expect(await weeder.post('/v1/triggers', mine)).toMatchObject({
    status: 404,
    body: { code: 'agent_not_found' },
  });
  await weeder.post('/v1/triggers', { ...mine, start: 'weed' });
  expect(await patch(weeder, '/v1/triggers/mine', { start: 'water' })).toMatchObject({
    status: 404,
    body: { code: 'agent_not_found' },
  });
  expect(await patch(ann, '/v1/triggers/hourly', { requester: null })).toMatchObject(other);
  for (const bound of [bob, weeder])
    expect(
      await bound.post('/v1/triggers', {
        ...{ name: 'all', on: { kind: 'event', pattern: '**' }, start: 'weed' },
      }),
    ).toMatchObject({ status: 403, body: { code: 'bound_credential' } });
  const viewer = await keyed(api, keys, { roles: ['viewer'] });
  expect(await viewer.post('/v1/triggers', mine)).toMatchObject({
    status: 403,
    body: { code: 'forbidden' },
  });
  expect((await viewer.get('/v1/triggers/hourly')).status).toBe(200);
});
