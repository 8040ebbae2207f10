import { agent, memoryStore, type Runtime, runtime, step, tool } from 'adjutant';
import { systemClock } from 'adjutant/ports';
import { roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { payingClerk } from './paying-clerk.ts';

/** An agent that says "Done" after as many rounds. */
function worker(name: string, rounds = 1, onRound: () => unknown = () => undefined) {
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: { type: 'object' },
    recovery: 'rerun',
    execute: async () => {
      await onRound();
      return 'seen';
    },
  });
  const calls = Array.from({ length: rounds - 1 }, (_, i) => ({
    toolCalls: [{ name: 'look', args: { i } }],
  }));
  return agent({ name, model: roundModel([...calls, { text: 'Done' }]), tools: [look] });
}

function desk(options: Partial<Parameters<typeof runtime>[0]> = {}): Runtime {
  return runtime({ app: 'desk', store: memoryStore(), ...options });
}

test('a task is carried out by a worker, and its end is told', async () => {
  const writer = worker('writer');
  const app = desk({ runnables: [writer] });
  const task = await app.submit(writer, 'Write', { name: 'Report', priority: 'low', key: 'a' });
  expect(task.id).toMatch(/^[0-9a-f]{12}$/);
  expect(await task.wait()).toMatchObject({ id: task.id, status: 'completed', output: 'Done' });
  const info = await task.info();
  expect(info).toMatchObject({
    ...{ name: 'Report', priority: 'low', state: 'completed', runnable: 'writer' },
    ...{ requester: 'system', queue: 'default', attempts: 1, roundsCompleted: 1, result: 'Done' },
  });
  expect(info.startedAt).toBeGreaterThanOrEqual(info.submittedAt);
  // The same submission again is the same task.
  const again = await app.submit(writer, 'Write', { name: 'Report', priority: 'low', key: 'a' });
  expect(again.id).toBe(task.id);
  expect(await again.wait()).toMatchObject({ status: 'completed' });
  expect(await app.tasks.list()).toEqual([]);
  expect(await app.tasks.list({ states: ['completed'] })).toHaveLength(1);
  await app.close();
});

test('tasks wait for a place, and those of a higher priority go first', async () => {
  const order: string[] = [];
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const job = step({
    name: 'job',
    execute: async (ctx) => {
      order.push(ctx.message ?? '');
      if (ctx.message === 'first') await gate;
      return ctx.complete('done');
    },
  });
  const app = desk({ runnables: [job], work: { slots: 1 } });
  const first = await app.submit(job, 'first');
  while ((await first.info()).state !== 'running') await new Promise(setImmediate);
  const rest = await Promise.all([
    app.submit(job, 'background', { priority: 'background' }),
    app.submit(job, 'normal', { priority: 'normal' }),
    app.submit(job, 'high', { priority: 'high' }),
  ]);
  const listed = await app.tasks.list();
  expect(listed.map(({ state, priority }) => `${state} ${priority}`)).toEqual([
    'queued high',
    'running normal',
    'queued normal',
    'queued background',
  ]);
  expect(await app.tasks.explain(rest[0]?.id ?? '')).toMatchObject({ before: 2 });
  open();
  await Promise.all(rest.map((task) => task.wait()));
  expect(order).toEqual(['first', 'high', 'normal', 'background']);
  await app.close();
});

test('a task of a higher priority goes before the next round of a running one', async () => {
  const order: string[] = [];
  let urgent: Promise<{ wait(): Promise<unknown> }> | undefined;
  const app = desk({ work: { slots: 1 } });
  const quick = step({
    name: 'quick',
    execute: async (ctx) => {
      order.push('urgent');
      return ctx.complete('quick');
    },
  });
  const slow = worker('slow', 5, async () => {
    order.push('round');
    if (order.length === 2) urgent = app.submit(quick, 'Now', { priority: 'high' });
    await urgent;
  });
  const task = await app.submit(slow, 'Work', { priority: 'normal' });
  expect(await task.wait()).toMatchObject({ status: 'completed', output: 'Done' });
  await (await urgent)?.wait();
  expect(order).toEqual(['round', 'round', 'urgent', 'round', 'round']);
  expect(await task.info()).toMatchObject({ roundsCompleted: 5 });
  const { events } = await app.sessions.open({ id: task.session });
  expect(events.filter(({ type }) => type === 'model_start')).toHaveLength(5);
  expect(events).toContainEqual(
    expect.objectContaining({ component: 'scheduler', decision: 'preempt' }),
  );
  await app.close();
});

test('a task is cancelled before it begins, and while it runs', async () => {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const ran: string[] = [];
  const job = step({
    name: 'job',
    execute: async (ctx) => {
      ran.push(ctx.message ?? '');
      if (ctx.message === 'first') await gate;
      return ctx.complete('done');
    },
  });
  const app = desk({ runnables: [job], work: { slots: 1 } });
  const first = await app.submit(job, 'first');
  while ((await first.info()).state !== 'running') await new Promise(setImmediate);
  const second = await app.submit(job, 'second');
  await second.cancel({ reason: 'Never mind.' });
  expect(await second.wait()).toMatchObject({ status: 'cancelled' });
  expect(ran).toEqual(['first']);
  await first.cancel();
  open();
  expect(await first.wait()).toMatchObject({ status: 'cancelled' });
  await expect(first.cancel()).rejects.toMatchObject({ code: 'task_ended' });
  await app.close();
});

test('a suspended task waits until it is resumed', async () => {
  const writer = worker('writer');
  const app = desk({ runnables: [writer], recover: 'manual' });
  const task = await app.submit(writer, 'Write');
  await app.tasks.suspend(task.id, { reason: 'Later.' });
  expect(await task.info()).toMatchObject({ state: 'suspended' });
  expect(await app.recovery.resumeStopped()).toEqual([]);
  expect(await app.tasks.explain(task.id)).toMatchObject({ block: { kind: 'suspended' } });
  await app.tasks.resume(task.id);
  const [run] = await app.recovery.resumeStopped();
  expect(await run).toMatchObject({ status: 'completed' });
  const { events } = await app.sessions.open({ id: task.session });
  const decisions = events.flatMap((event) =>
    event.type === 'decision' && event.component === 'scheduler' ? [event.decision] : [],
  );
  expect(decisions).toEqual(['suspend', 'resume', 'enqueue']);
  await app.close();
});

test('a task that passes its hard deadline in the queue ends without running', async () => {
  const ran: string[] = [];
  const job = step({
    name: 'job',
    execute: async (ctx) => {
      ran.push(ctx.message ?? '');
      return ctx.complete('done');
    },
  });
  let ahead = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  const store = memoryStore({ clock });
  const app = desk({ runnables: [job], store, recover: 'manual', work: { slots: 1 } });
  const task = await app.submit(job, 'late', { deadline: { hardMs: 60_000 } });
  ahead = 60_000;
  while ((await task.info()).state !== 'timeout') {
    await app.recovery.resumeStopped();
    // Timers get their turn.
    await new Promise(setImmediate);
  }
  expect(ran).toEqual([]);
  expect(await task.wait()).toMatchObject({ status: 'timeout' });
  await app.close();
});

test.each<[string, unknown, object]>([
  ['an unknown priority', 'x', { priority: 'urgent' }],
  ['an unknown option', 'x', { prio: 'high' }],
  ['no input', undefined, {}],
  ['an input that is no text', 7, {}],
  ['a negative deadline', 'x', { deadline: { hardMs: -1 } }],
  ['a soft deadline after the hard one', 'x', { deadline: { softMs: 2, hardMs: 1 } }],
  ['a date that is none', 'x', { notBefore: new Date('no date') }],
  ['a key without a limit', 'x', { concurrencyKey: { name: 'k' } }],
  ['data that is not JSON', 'x', { data: { at: new Date() } }],
])('a submission with %s is refused, and nothing is stored', async (_what, input, options) => {
  const writer = worker('writer');
  const app = desk({ recover: 'manual' });
  await expect(app.submit(writer, input as string, options)).rejects.toMatchObject({
    code: 'invalid_task',
  });
  expect(await app.tasks.list()).toEqual([]);
  await expect(app.tasks.get('none')).rejects.toMatchObject({ code: 'task_not_found' });
  await app.close();
});

test('a full queue refuses one more, and says which limit', async () => {
  const writer = worker('writer');
  const app = desk({ recover: 'manual', work: { profile: 'assistant' } });
  for (let i = 0; i < 3; i++) await app.submit(writer, `${i}`, { priority: 'high' });
  await expect(app.submit(writer, 'more', { priority: 'high' })).rejects.toMatchObject({
    code: 'queue_full',
    data: { limit: 'level', most: 3, level: 1 },
  });
  await app.submit(writer, 'other', { priority: 'low' });
  expect(await app.tasks.list()).toHaveLength(4);
  await app.close();
});

test('equal tasks that have not begun are one, which the last interest cancels', async () => {
  const writer = worker('writer');
  const app = desk({ recover: 'manual' });
  const first = await app.submit(writer, 'Summary', { coalesceKey: true, requester: 'ann' });
  const second = await app.submit(writer, 'Summary', { coalesceKey: true, requester: 'ann' });
  const other = await app.submit(writer, 'Summary', { coalesceKey: true, requester: 'bob' });
  expect([second.id === first.id, second.joined, other.joined]).toEqual([true, true, false]);
  await second.cancel();
  await app.recovery.resumeStopped();
  expect(await first.wait()).toMatchObject({ status: 'completed' });
  await app.close();
});

/** A step that fails so many times, and then completes. */
function flaky(failures: number) {
  const calls = { count: 0 };
  const job = step({
    name: 'job',
    execute: async (ctx) => {
      const first = await ctx.effect('first', () => `did it in execution ${calls.count + 1}`);
      calls.count += 1;
      if (calls.count <= failures) throw new Error(`Failure ${calls.count}`);
      return ctx.complete(first);
    },
  });
  return { job, calls };
}

test('a task that fails is executed again, and what it had completed stays so', async () => {
  const { calls, job } = flaky(2);
  const app = desk({ runnables: [job] });
  const task = await app.submit(job, 'Go', { retry: { attempts: 3, initialDelayMs: 1 } });
  expect(await task.wait()).toMatchObject({
    status: 'completed',
    output: 'did it in execution 1',
  });
  expect(calls.count).toBe(3);
  expect(await task.info()).toMatchObject({ attempts: 3, state: 'completed' });
  await app.close();
});

test('a task that fails for good is listed as failed, and is run again or discarded', async () => {
  const { job } = flaky(2);
  const app = desk({ runnables: [job] });
  const task = await app.submit(job, 'Go');
  expect(await task.wait()).toMatchObject({ status: 'failed', error: { message: 'Failure 1' } });
  await expect(app.tasks.cancel(task.id)).rejects.toMatchObject({ code: 'task_ended' });
  // Two operators ask for one execution.
  await Promise.all([app.tasks.retry(task.id), app.tasks.retry(task.id)]);
  expect(await app.tasks.wait(task.id)).toMatchObject({ error: { message: 'Failure 2' } });
  expect(await app.tasks.list({ states: ['failed'] })).toMatchObject([
    { id: task.id, attempts: 2 },
  ]);
  await app.tasks.retry(task.id, { reason: 'It is worth a try.' });
  expect(await app.tasks.wait(task.id)).toMatchObject({ status: 'completed' });
  await expect(app.tasks.retry(task.id)).rejects.toMatchObject({ code: 'invalid_task' });
  await app.tasks.discard(task.id);
  await expect(app.tasks.get(task.id)).rejects.toMatchObject({ code: 'task_not_found' });
  await app.close();
});

test('a task that waits for its next execution can be cancelled', async () => {
  const { calls, job } = flaky(9);
  const app = desk({ runnables: [job] });
  const task = await app.submit(job, 'Go', { retry: { attempts: 3, initialDelayMs: 3_600_000 } });
  while ((await task.info()).attempts < 2) await new Promise(setImmediate);
  expect(await task.info()).toMatchObject({ state: 'waiting', error: { message: 'Failure 1' } });
  await task.cancel();
  expect(await task.wait()).toMatchObject({ status: 'cancelled' });
  expect(calls.count).toBe(1);
  await app.close();
});

test('a fork of a task is no task: its end changes nothing of the original', async () => {
  const clerk = payingClerk('Done');
  const app = desk({ runnables: [clerk] });
  const task = await app.submit(clerk, 'Pay');
  while ((await task.info()).state !== 'waiting') await new Promise(setImmediate);
  const fork = await app.sessions.fork(task.session);
  const [asked] = await app.requests.listPendingApprovals({ session: fork.id });
  if (asked !== undefined) await app.requests.approve(asked.requestId);
  const { status } = await app.resume(fork.id);
  expect(['completed', 'yielded']).toContain(status);
  expect(await task.info()).toMatchObject({ state: 'waiting', session: task.session });
  await app.close();
});

test('names of the language are names like others', async () => {
  const writer = worker('writer');
  const names = ['constructor', '__proto__', 'toString'];
  const app = desk({
    runnables: [writer],
    work: { queues: ['default', ...names], weights: { requesters: { vip: 2 } } },
  });
  const tasks = await Promise.all(
    names.map((name) =>
      app.submit(writer, name, { requester: name, source: name, queue: name, key: name }),
    ),
  );
  for (const task of tasks) expect(await task.wait()).toMatchObject({ status: 'completed' });
  expect(await tasks[0]?.info()).toMatchObject({ priority: 'normal', queue: 'constructor' });
  await app.close();
});
