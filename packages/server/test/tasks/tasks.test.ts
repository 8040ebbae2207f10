import type { Runtime } from 'adjutant';
import { expect, onTestFinished, test } from 'vitest';
import { ApiKeys } from '../../src/access/api-keys.ts';
import { server } from '../../src/index.ts';
import { type Answered, callerOf, callerTo } from '../rest/caller.ts';
import { SseReader } from '../stream/sse-reader.ts';
import { desk } from './desk.ts';

interface TaskBody {
  readonly id: string;
  readonly state: string;
  readonly priority: string;
  readonly joined?: boolean;
  readonly tasks: readonly TaskBody[];
}

function bodyOf({ body }: Answered): TaskBody {
  return body as unknown as TaskBody;
}

const report = { agent: 'writer', input: 'Write.' };

test('a task is submitted, waited for, listed and explained', async () => {
  const { get, post } = callerOf(desk().app);
  const made = await post('/v1/tasks', { ...report, name: 'Report', priority: 'low' });
  const { id } = bodyOf(made);
  expect(made).toMatchObject({
    status: 201,
    body: { agent: 'writer', name: 'Report', priority: 'low', requester: 'system', joined: false },
  });
  expect(made.headers.get('location')).toBe(`/v1/tasks/${id}`);
  const ended = await get(`/v1/tasks/${id}?wait=10000`);
  expect(ended).toMatchObject({
    status: 200,
    body: { id, state: 'completed', result: 'Written.', roundsCompleted: 1, attempts: 1 },
  });
  expect(bodyOf(await get('/v1/tasks')).tasks).toEqual([]);
  expect(bodyOf(await get('/v1/tasks?state=completed&state=failed')).tasks).toEqual([ended.body]);
  expect(await get(`/v1/tasks/${id}/explanation`)).toMatchObject({
    status: 200,
    body: { task: { id }, text: 'It has ended: completed.' },
  });
});

test('a repeated request, and a key of its own, are the same task', async () => {
  const { post } = callerOf(desk({ recover: 'manual' }).app);
  const again = { 'idempotency-key': 'report-1' };
  const [first, second] = [
    await post('/v1/tasks', report, again),
    await post('/v1/tasks', report, again),
  ];
  expect(bodyOf(second).id).toBe(bodyOf(first).id);
  const keyed = { ...report, key: 'mine' };
  const [third, fourth] = [await post('/v1/tasks', keyed), await post('/v1/tasks', keyed)];
  expect(bodyOf(fourth).id).toBe(bodyOf(third).id);
  expect(bodyOf(third).id).not.toBe(bodyOf(first).id);
  const same = { ...report, coalesceKey: true };
  expect(bodyOf(await post('/v1/tasks', same)).joined).toBe(false);
  expect(bodyOf(await post('/v1/tasks', same)).joined).toBe(true);
});

test('a task is suspended, resumed, moved, reprioritized and cancelled', async () => {
  const { get, post } = callerOf(desk({ recover: 'manual' }).app);
  const { id: first } = bodyOf(await post('/v1/tasks', report));
  const { id } = bodyOf(await post('/v1/tasks', { ...report, name: 'Second' }));
  const act = (verb: string, body?: object) => post(`/v1/tasks/${id}/${verb}`, body);
  expect(await act('suspend', { reason: 'Later.' })).toMatchObject({
    status: 202,
    body: { id, state: 'suspended' },
  });
  expect(await get(`/v1/tasks/${id}/explanation`)).toMatchObject({
    body: { block: { kind: 'suspended' } },
  });
  expect(await act('resume')).toMatchObject({ status: 202, body: { state: 'queued' } });
  expect(await act('reprioritize', { priority: 'background' })).toMatchObject({
    status: 202,
    body: { priority: 'background' },
  });
  expect(bodyOf(await get('/v1/tasks')).tasks.map((task) => task.id)).toEqual([first, id]);
  expect(await act('move-to-front')).toMatchObject({ status: 202 });
  expect(await get(`/v1/tasks/${id}/explanation`)).toMatchObject({ body: { before: 0 } });
  expect(await act('cancel')).toMatchObject({ status: 202 });
});

test('a task that has ended is executed again, and discarded', async () => {
  const { app, begun, goOn } = desk();
  const { delete: remove, get, post } = callerOf(app);
  const { id } = bodyOf(await post('/v1/tasks', { agent: 'slow', input: 'Go' }));
  await begun;
  for (const answer of [await post(`/v1/tasks/${id}/retry`), await remove(`/v1/tasks/${id}`)])
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_task' } });
  await post(`/v1/tasks/${id}/cancel`);
  expect(bodyOf(await get(`/v1/tasks/${id}?wait=10000`)).state).toBe('cancelled');
  goOn();
  expect(await post(`/v1/tasks/${id}/retry`, { reason: 'After all.' })).toMatchObject({
    status: 202,
  });
  expect(bodyOf(await get(`/v1/tasks/${id}?wait=10000`))).toMatchObject({
    state: 'completed',
    attempts: 2,
  });
  expect((await remove(`/v1/tasks/${id}`)).status).toBe(204);
  expect((await get(`/v1/tasks/${id}`)).status).toBe(404);
});

test('a cancelled task ends, and nothing of it can be changed any more', async () => {
  const { app, begun } = desk();
  const { get, post } = callerOf(app);
  const { id } = bodyOf(await post('/v1/tasks', { agent: 'slow', input: 'Go' }));
  await begun;
  expect(bodyOf(await get(`/v1/tasks/${id}?wait=1`)).state).toBe('running');
  expect((await post(`/v1/tasks/${id}/cancel`, { reason: 'No.' })).status).toBe(202);
  expect(bodyOf(await get(`/v1/tasks/${id}?wait=10000`)).state).toBe('cancelled');
  for (const verb of ['cancel', 'suspend', 'resume', 'move-to-front'])
    expect(await post(`/v1/tasks/${id}/${verb}`)).toMatchObject({
      status: 409,
      body: { code: 'task_ended' },
    });
  expect(await post(`/v1/tasks/${id}/reprioritize`, { priority: 'low' })).toMatchObject({
    status: 409,
    body: { code: 'task_ended' },
  });
});

test.each<[string, string, object, number, string]>([
  ['an unknown agent', '/v1/tasks', { agent: 'wroter', input: 'x' }, 404, 'agent_not_found'],
  ['no agent', '/v1/tasks', { input: 'x' }, 400, 'invalid_request'],
  ['no input', '/v1/tasks', { agent: 'writer' }, 400, 'invalid_task'],
  ['an unknown member', '/v1/tasks', { ...report, prio: 'low' }, 400, 'invalid_request'],
  ['an unknown priority', '/v1/tasks', { ...report, priority: 'now' }, 400, 'invalid_request'],
  ['a wrong type', '/v1/tasks', { ...report, delayMs: '5' }, 400, 'invalid_request'],
  [
    'a soft deadline after the hard one',
    '/v1/tasks',
    { ...report, deadline: { softMs: 2, hardMs: 1 } },
    400,
    'invalid_task',
  ],
  ['both delays', '/v1/tasks', { ...report, delayMs: 1, notBefore: 1 }, 400, 'invalid_task'],
  ['an unknown task', '/v1/tasks/none/cancel', {}, 404, 'task_not_found'],
  ['a wrong reason', '/v1/tasks/none/suspend', { reason: 7 }, 400, 'invalid_request'],
  ['no priority', '/v1/tasks/none/reprioritize', {}, 400, 'invalid_request'],
])('%s is refused, and nothing is stored', async (_what, path, body, status, code) => {
  const { app } = desk({ recover: 'manual' });
  const { post } = callerOf(app);
  expect(await post(path, body)).toMatchObject({ status, body: { code } });
  expect(await app.tasks.list()).toEqual([]);
});

test('a query that is wrong is refused', async () => {
  const { get } = callerOf(desk({ recover: 'manual' }).app);
  for (const path of ['?state=done', '?limit=0', '?limit=2000', '?prio=low', '/none?wait=x'])
    expect((await get(`/v1/tasks${path}`)).status).toBe(400);
  for (const path of ['none', 'none/explanation'])
    expect(await get(`/v1/tasks/${path}`)).toMatchObject({
      status: 404,
      body: { code: 'task_not_found' },
    });
});

test('a full queue refuses one more, and says when to come back', async () => {
  const { app } = desk({ recover: 'manual', work: { admission: { total: 1 } } });
  const { post } = callerOf(app);
  expect((await post('/v1/tasks', report)).status).toBe(201);
  const refused = await post('/v1/tasks', report);
  expect(refused).toMatchObject({ status: 429, body: { code: 'queue_full' } });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
});

/** Makes callers whose credentials are bound to something. */
function boundCallers(app: Runtime) {
  const api = server(app, { auth: {} });
  onTestFinished(async () => {
    await api.close();
    await app.close();
  });
  const keys = new ApiKeys(app);
  return async (bound: object) => {
    const { credential } = await keys.create({ name: 'test', roles: ['operator'], ...bound });
    return callerTo(api, { authorization: `Bearer ${credential}` });
  };
}

test('tasks are out of reach of other tenants, users and agents', async () => {
  const { app } = desk({ recover: 'manual' });
  const caller = boundCallers(app);
  const ann = await caller({ user: 'ann' });
  const made = await ann.post('/v1/tasks', report);
  expect(made).toMatchObject({ status: 201, body: { requester: 'ann' } });
  const { id } = bodyOf(made);
  expect(bodyOf(await ann.get('/v1/tasks')).tasks).toHaveLength(1);
  const strangers = [
    await caller({ tenant: 'other' }),
    await caller({ user: 'bob' }),
    await caller({ agents: ['slow'] }),
  ];
  for (const { get, post } of strangers) {
    expect(bodyOf(await get('/v1/tasks')).tasks).toEqual([]);
    for (const path of [id, `${id}/explanation`])
      expect(await get(`/v1/tasks/${path}`)).toMatchObject({
        status: 404,
        body: { code: 'task_not_found' },
      });
    for (const verb of ['cancel', 'suspend', 'resume', 'move-to-front'])
      expect((await post(`/v1/tasks/${id}/${verb}`)).status).toBe(404);
  }
  const [, bob] = strangers;
  expect(bodyOf((await bob?.get('/v1/tasks?requester=ann')) as Answered).tasks).toEqual([]);
  expect(await bob?.post('/v1/tasks', { ...report, requester: 'ann' })).toMatchObject({
    status: 403,
    body: { code: 'other_user' },
  });
  const viewer = await caller({ roles: ['viewer'] });
  expect(await viewer.post('/v1/tasks', report)).toMatchObject({
    status: 403,
    body: { code: 'forbidden' },
  });
  expect((await viewer.get(`/v1/tasks/${id}`)).status).toBe(200);
  expect(await app.tasks.list()).toHaveLength(1);
});

test('a task runs in a session that is there and in reach', async () => {
  const { app } = desk({ recover: 'manual' });
  const caller = boundCallers(app);
  const [owner, stranger] = [await caller({ user: 'ann' }), await caller({ user: 'bob' })];
  const absent = { status: 404, body: { code: 'session_not_found' } };
  expect(await owner.post('/v1/tasks', { ...report, session: 'none' })).toMatchObject(absent);
  const session = bodyOf(await owner.post('/v1/sessions', {})).id;
  expect(await stranger.post('/v1/tasks', { ...report, session })).toMatchObject(absent);
  expect(await app.tasks.list()).toEqual([]);
  for (const input of ['one', 'two'])
    expect(await owner.post('/v1/tasks', { ...report, session, input })).toMatchObject({
      status: 201,
      body: { session, requester: 'ann' },
    });
  expect(await app.tasks.list({ session })).toHaveLength(2);
});

test('the stream tells of open tasks first, and then of each that changes', async () => {
  const { app, begun, goOn } = desk();
  const { api, post } = callerOf(app);
  const { id } = bodyOf(await post('/v1/tasks', { agent: 'slow', input: 'Go' }));
  await begun;
  const reader = new SseReader(await api.fetch(new Request('http://localhost/v1/tasks/events')));
  expect(await reader.next()).toMatchObject({ event: 'task', data: { id, state: 'running' } });
  expect(await reader.next()).toMatchObject({ event: 'listed' });
  goOn();
  const last = await reader.next();
  expect(last).toMatchObject({ event: 'task', data: { id, state: 'completed', result: 'done' } });
  expect(last?.id).toBeUndefined();
  const { id: other } = bodyOf(await post('/v1/tasks', { ...report, delayMs: 60_000 }));
  expect(await reader.next()).toMatchObject({ data: { id: other, state: 'queued' } });
  // A change that no route of this server has made.
  await app.tasks.suspend(other);
  expect(await reader.next()).toMatchObject({ data: { id: other, state: 'suspended' } });
});
