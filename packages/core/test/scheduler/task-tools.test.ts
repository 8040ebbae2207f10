import { agent, type JsonObject, memoryStore, type Runtime, runtime, step } from 'adjutant';
import { type TaskToolsOptions, taskTools } from 'adjutant/scheduler';
import { roundModel, type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

const job = step({ name: 'job', execute: async (ctx) => ctx.complete('done') });

interface ToldResult {
  readonly status: string;
  readonly errorType?: string;
  readonly content: unknown;
  readonly alternatives?: readonly string[];
}

/** An app whose tasks wait, and an assistant that makes one call. */
function home(options: Partial<TaskToolsOptions> = { requester: 'ann' }) {
  let call: { name: string; args: JsonObject } = { name: 'task_status', args: {} };
  let calls = 0;
  const assistant = agent({
    name: 'assistant',
    model: scriptedModel(
      (): ScriptedResponse => (calls++ % 2 === 0 ? { toolCalls: [call] } : { text: 'Done.' }),
    ),
    tools: taskTools({ tasks: () => app.tasks, ...options }),
  });
  const app: Runtime = runtime({
    app: 'home',
    store: memoryStore(),
    runnables: [job, assistant],
    recover: 'manual',
  });
  const use = async (name: string, args: JsonObject = {}): Promise<ToldResult> => {
    call = { name, args };
    const { session, status } = await app.run(assistant, { input: 'Go', session: `chat-${name}` });
    expect(status).toBe('completed');
    const results = session.events.flatMap((event) =>
      event.type === 'tool_result' ? [event.result as unknown as ToldResult] : [],
    );
    return results.at(-1) as ToldResult;
  };
  return { app, use };
}

test('an agent sees the tasks of its user, and no others', async () => {
  const { app, use } = home();
  const { id } = await app.submit(job, 'x', { name: 'Battery research', requester: 'ann' });
  const other = await app.submit(job, 'x', { name: 'Secret plan', requester: 'bob' });
  const all = await use('task_status');
  expect(all).toMatchObject({
    status: 'success',
    content: {
      tasks: [{ id, name: 'Battery research', state: 'queued', priority: 'normal', rounds: 0 }],
      text: expect.stringContaining('Battery research'),
    },
  });
  expect(JSON.stringify(all)).not.toContain('Secret');
  expect(await use('task_status', { task: 'research' })).toMatchObject({
    content: { task: { id }, text: 'It is next.' },
  });
  for (const name of ['cancel_task', 'suspend_task', 'resume_task', 'task_status'])
    expect(await use(name, { task: other.id })).toMatchObject({
      status: 'error_permanent',
      errorType: 'task_not_found',
    });
  await app.close();
});

test('an agent suspends, resumes, reprioritizes and cancels a task', async () => {
  const { app, use } = home();
  const { id } = await app.submit(job, 'x', { name: 'Battery research', requester: 'ann' });
  expect(await use('suspend_task', { task: id, reason: 'Later' })).toMatchObject({
    status: 'success',
    content: { task: id, name: 'Battery research' },
  });
  expect(await app.tasks.get(id)).toMatchObject({ state: 'suspended' });
  expect((await use('resume_task', { task: 'battery research' })).status).toBe('success');
  expect(await app.tasks.get(id)).toMatchObject({ state: 'queued' });
  await use('reprioritize_task', { task: id, priority: 'low' });
  expect(await app.tasks.get(id)).toMatchObject({ priority: 'low' });
  expect((await use('cancel_task', { task: id })).status).toBe('success');
  await app.recovery.resumeStopped();
  await app.tasks.wait(id);
  expect(await app.tasks.get(id)).toMatchObject({ state: 'cancelled' });
  expect(await use('task_status', { task: id })).toMatchObject({
    content: { task: { id, state: 'cancelled' } },
  });
  const { events } = await app.sessions.open({ id: `task-${id}` });
  expect(events).toContainEqual(
    expect.objectContaining({ component: 'scheduler', decision: 'suspend', by: 'user:ann' }),
  );
  await app.close();
});

test('a name that fits several tasks is refused with their ids', async () => {
  const { app, use } = home();
  for (const name of ['Battery research', 'Solar research'])
    await app.submit(job, 'x', { name, requester: 'ann' });
  const refused = await use('cancel_task', { task: 'research' });
  expect(refused).toMatchObject({ status: 'error_permanent', errorType: 'task_ambiguous' });
  expect(refused.alternatives).toHaveLength(2);
  expect(await use('reprioritize_task', { task: 'x', priority: 'realtime' })).toMatchObject({
    status: expect.not.stringMatching('success'),
  });
  await app.close();
});

test('a task of an agent reaches the tasks of its own requester', async () => {
  const app: Runtime = runtime({
    app: 'home',
    store: memoryStore(),
    runnables: [job],
    work: { queues: ['chat'] },
  });
  const assistant = agent({
    name: 'assistant',
    model: roundModel([{ toolCalls: [{ name: 'task_status', args: {} }] }, { text: 'Done.' }]),
    tools: taskTools({ tasks: () => app.tasks }),
  });
  await app.submit(job, 'x', { name: 'For Ann', requester: 'ann' });
  await app.submit(job, 'x', { name: 'For Bob', requester: 'bob' });
  const asked = await app.submit(assistant, 'Go', { requester: 'ann', queue: 'chat' });
  expect(await asked.wait()).toMatchObject({ status: 'completed' });
  const { events } = await app.sessions.open({ id: asked.session });
  const told = JSON.stringify(events.filter(({ type }) => type === 'tool_result'));
  expect(told).toContain('For Ann');
  expect(told).not.toContain('For Bob');
  await app.close();
});

test('the tools say how they recover', () => {
  const tools = taskTools({ tasks: () => runtime({ app: 'home' }).tasks });
  expect(
    tools.map(({ name, recovery, readOnly, idempotent }) => [
      name,
      recovery,
      readOnly || idempotent,
    ]),
  ).toEqual([
    ['task_status', 'rerun', true],
    ['cancel_task', 'rerun', true],
    ['suspend_task', 'rerun', true],
    ['resume_task', 'rerun', true],
    ['reprioritize_task', 'rerun', true],
  ]);
});

test.each<[string, object]>([
  ['no tasks', {}],
  ['tasks that are none', { tasks: {} }],
  ['a requester that is none', { tasks: () => undefined, requester: '' }],
  ['an unknown option', { tasks: () => undefined, user: 'ann' }],
])('%s are refused', (_what, options) => {
  expect(() => taskTools(options as TaskToolsOptions)).toThrow(
    expect.objectContaining({ code: 'invalid_option' }),
  );
});
