import { agent, memoryStore, type Runtime, runtime, type Step, step, tool } from 'adjutant';
import { replay } from 'adjutant/replay';
import { scriptedModel, type TestClock, testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';

type Script = Parameters<typeof scriptedModel>[0];
type Tasks = { readonly state?: string };

const minute = 60_000;

/** An app whose store, timers and models go by a clock that the test moves. */
function desk(options: Partial<Parameters<typeof runtime>[0]> = {}) {
  const clock = testClock();
  const app = runtime({
    app: 'desk',
    store: memoryStore({ clock }),
    ports: { clock },
    lease: { ttlMs: 24 * 60 * minute },
    ...options,
  });
  return { app, clock };
}

/** Lets everything happen that can, until the task is in a state. */
async function reaches(app: Runtime, id: string, state: string): Promise<void> {
  while (((await app.tasks.get(id)) as Tasks).state !== state) await new Promise(setImmediate);
}

/** Lets everything happen until the model of a session was called so often. */
async function called(app: Runtime, session: string, times: number): Promise<void> {
  const calls = async () => {
    const { events } = await app.sessions.open({ id: session });
    return events.filter(({ type }) => type === 'model_start').length;
  };
  while ((await calls()) < times) await new Promise(setImmediate);
  await turns();
}

async function turns(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate);
}

const seen: string[] = [];
const look = tool({
  name: 'look',
  description: 'Looks',
  schema: { type: 'object' },
  execute: () => {
    seen.push('look');
    return 'seen';
  },
});

function clerk(clock: TestClock, script: Script) {
  return agent({ name: 'clerk', model: scriptedModel(script, { clock }), tools: [look] });
}

const found = { text: 'One thing is known.', toolCalls: [{ name: 'look', args: {} }] };

async function decisionsOf(app: Runtime, session: string) {
  const { events } = await app.sessions.open({ id: session });
  return events.flatMap((event) =>
    event.type === 'decision' && event.decision === 'hard_deadline' ? [event.data] : [],
  );
}

async function replays(app: Runtime, session: string): Promise<void> {
  const recorded = await app.sessions.open({ id: session });
  expect((await replay(recorded, app)).divergence).toBeUndefined();
}

test('`partial` keeps what the model has said, also of the answer that is cut off', async () => {
  const { app, clock } = desk();
  const slow = clerk(clock, [found, { chunks: ['Two ', 'things ', 'are'], chunkDelayMs: 1_000 }]);
  const deadline = { hardMs: 1_500, action: 'partial' } as const;
  const task = await app.submit(slow, 'Go', { deadline });
  await called(app, task.session, 2);
  clock.advance(1_000);
  await turns();
  clock.advance(500);
  expect(await task.wait()).toMatchObject({ status: 'timeout', output: 'Two things ' });
  expect(await decisionsOf(app, task.session)).toEqual([{ at: clock.now(), action: 'partial' }]);
  expect(await task.info()).toMatchObject({ state: 'timeout', result: 'Two things ' });
  await replays(app, task.session);
  await app.close();
});

test('`partial` without an answer under way keeps the last text', async () => {
  const { app, clock } = desk();
  const stuck = tool({
    name: 'look',
    description: 'Looks',
    schema: { type: 'object' },
    execute: () => new Promise<string>(() => undefined),
  });
  const model = scriptedModel([found], { clock });
  const slow = agent({ name: 'clerk', model, tools: [stuck] });
  const task = await app.submit(slow, 'Go', { deadline: { hardMs: 1_000, action: 'partial' } });
  await called(app, task.session, 1);
  clock.advance(1_000);
  await turns();
  clock.advance(2_000);
  expect(await task.wait()).toMatchObject({ status: 'timeout', output: 'One thing is known.' });
  await app.close();
});

test.each([
  ['discard', {}, undefined],
  ['fallback', { fallback: 'I am having trouble.' }, 'I am having trouble.'],
] as const)('`%s` ends the task', async (action, more, output) => {
  const { app, clock } = desk();
  const slow = clerk(clock, [found, { text: 'Too late', delayMs: minute }]);
  const task = await app.submit(slow, 'Go', { deadline: { hardMs: 3_000, action, ...more } });
  await called(app, task.session, 2);
  clock.advance(3_000);
  expect((await task.wait()).output).toBe(output);
  expect(await task.info()).toMatchObject({ state: 'timeout' });
  expect(await decisionsOf(app, task.session)).toMatchObject([{ action }]);
  await app.close();
});

test('`retry` stops the task where it is, and goes on from there later', async () => {
  const { app, clock } = desk();
  const slow = clerk(clock, [found, { text: 'Too late', delayMs: 60 * minute }, { text: 'Done' }]);
  seen.length = 0;
  const deadline = { hardMs: minute, action: 'retry', retryAfterMs: 10 * minute } as const;
  const task = await app.submit(slow, 'Go', { deadline });
  await called(app, task.session, 2);
  clock.advance(minute);
  await reaches(app, task.id, 'waiting');
  expect(await task.info()).toMatchObject({ attempts: 2, roundsCompleted: 1 });
  expect(await app.tasks.explain(task.id)).toMatchObject({
    block: { kind: 'not_before', at: clock.now() + 10 * minute },
  });
  clock.advance(10 * minute - 1);
  await app.recovery.resumeStopped();
  expect(await task.info()).toMatchObject({ state: 'waiting' });
  clock.advance(1);
  await app.recovery.resumeStopped();
  expect(await task.wait()).toMatchObject({ status: 'completed', output: 'Done' });
  // The round before the deadline was not made again, and the decision is one of one append.
  expect(seen).toEqual(['look']);
  expect(await decisionsOf(app, task.session)).toMatchObject([{ action: 'retry', attempt: 2 }]);
  const { events } = await app.sessions.open({ id: task.session });
  expect(events.filter(({ type }) => type === 'invocation_end')).toHaveLength(1);
  expect(await task.info()).toMatchObject({ attempts: 2, state: 'completed' });
  await replays(app, task.session);
  await app.close();
});

test('the last deadline of a task that is retried ends it with what there is', async () => {
  const { app, clock } = desk();
  const late = { text: 'Too late', delayMs: 60 * minute };
  const slow = clerk(clock, [found, late, late, { text: 'Done' }]);
  const deadline = { hardMs: minute, action: 'retry', retryAfterMs: minute, attempts: 2 } as const;
  const task = await app.submit(slow, 'Go', { deadline });
  for (const [state, calls] of [
    ['waiting', 2],
    ['timeout', 3],
  ] as const) {
    await called(app, task.session, calls);
    clock.advance(minute);
    await reaches(app, task.id, state);
    clock.advance(minute);
    await app.recovery.resumeStopped();
  }
  expect(await task.wait()).toMatchObject({ status: 'timeout', output: 'One thing is known.' });
  expect(await decisionsOf(app, task.session)).toMatchObject([
    { action: 'retry' },
    { action: 'partial' },
  ]);
  await app.close();
});

test('`retry_when_idle` lets everything else go first', async () => {
  const order: string[] = [];
  const { app, clock } = desk({ work: { slots: 1 } });
  const slow = clerk(clock, [found, { text: 'Too late', delayMs: 60 * minute }, { text: 'Done' }]);
  const quick = step({
    name: 'quick',
    execute: async (ctx) => {
      order.push(`quick, slow is ${(await task.info()).state}`);
      return ctx.complete('quick');
    },
  });
  const deadline = { hardMs: minute, action: 'retry_when_idle' } as const;
  const task = await app.submit(slow, 'Go', { deadline, priority: 'normal' });
  await called(app, task.session, 2);
  const other = await app.submit(quick, 'Go', { priority: 'low' });
  await turns();
  clock.advance(minute);
  await other.wait();
  expect(await task.wait()).toMatchObject({ status: 'completed', output: 'Done' });
  expect(order).toEqual(['quick, slow is queued']);
  expect(await decisionsOf(app, task.session)).toMatchObject([
    { action: 'retry_when_idle', attempt: 2 },
  ]);
  await app.close();
});

test('hard_deadline_during_approval: its time stands still during a wait for people', async () => {
  const { app, clock } = desk();
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: { type: 'object' },
    approval: true,
    execute: () => 'paid',
  });
  const script: Script = [{ toolCalls: [{ name: 'pay', args: {} }] }, { text: 'Paid' }];
  const model = scriptedModel(script, { clock });
  const payer = agent({ name: 'payer', model, tools: [pay] });
  const task = await app.submit(payer, 'Pay', { deadline: { hardMs: minute } });
  await reaches(app, task.id, 'waiting');
  clock.advance(20 * minute);
  await app.recovery.resumeStopped();
  await turns();
  expect(await task.info()).toMatchObject({ state: 'waiting' });
  const [asked] = await app.requests.listPendingApprovals({ session: task.session });
  await app.requests.approve(asked?.requestId ?? '');
  expect(await task.wait()).toMatchObject({ status: 'completed', output: 'Paid' });
  expect(await decisionsOf(app, task.session)).toEqual([]);
  await app.close();
});

/** An app of one slot, which a task holds until `free` is called. */
async function busyDesk() {
  const { promise: gate, resolve: free } = Promise.withResolvers<void>();
  const ran: string[] = [];
  const job: Step = step({
    name: 'job',
    execute: async (ctx) => {
      ran.push(ctx.message ?? '');
      if (ctx.message === 'first') await gate;
      return ctx.complete('done');
    },
  });
  const made = desk({ runnables: [job], work: { slots: 1 } });
  const first = await made.app.submit(job, 'first', { priority: 'high' });
  await reaches(made.app, first.id, 'running');
  return { ...made, job, first, free, ran };
}

test('hard_deadline_while_all_slots_busy: it ends without a slot', async () => {
  const { app, clock, first, free, job, ran } = await busyDesk();
  const deadline = { hardMs: minute, action: 'fallback', fallback: 'Sorry.' } as const;
  const late = await app.submit(job, 'late', { deadline });
  clock.advance(minute);
  await app.recovery.resumeStopped();
  expect(await late.wait()).toMatchObject({ status: 'timeout', output: 'Sorry.' });
  expect(await first.info()).toMatchObject({ state: 'running' });
  free();
  expect(await first.wait()).toMatchObject({ status: 'completed' });
  expect(ran).toEqual(['first']);
  await app.close();
});

test('hard_deadline_while_all_slots_busy: a retried one waits again, and runs', async () => {
  const { app, clock, first, free, job, ran } = await busyDesk();
  const deadline = { hardMs: minute, action: 'retry', retryAfterMs: minute } as const;
  const late = await app.submit(job, 'late', { deadline });
  clock.advance(minute);
  await app.recovery.resumeStopped();
  while ((await late.info()).attempts < 2) await new Promise(setImmediate);
  await turns();
  expect(await app.tasks.explain(late.id)).toMatchObject({
    block: { kind: 'not_before', at: clock.now() + minute },
  });
  free();
  await first.wait();
  await turns();
  expect(ran).toEqual(['first']);
  clock.advance(minute);
  await app.recovery.resumeStopped();
  expect(await late.wait()).toMatchObject({ status: 'completed' });
  expect(ran).toEqual(['first', 'late']);
  expect(await decisionsOf(app, late.session)).toMatchObject([{ action: 'retry', attempt: 2 }]);
  await app.close();
});

test('the profile of an assistant has an action for each priority', async () => {
  const job = step({ name: 'job', execute: async (ctx) => ctx.complete('done') });
  const assistant = desk({ runnables: [job], work: { profile: 'assistant' }, recover: 'manual' });
  const actionOf = async (priority: 'realtime' | 'high' | 'normal' | 'low' | 'background') => {
    const task = await assistant.app.submit(job, priority, { priority });
    await Promise.all(await assistant.app.recovery.resumeStopped());
    const { events } = await assistant.app.sessions.open({ id: task.session });
    const enqueued = events.find(
      (event) => event.type === 'decision' && event.decision === 'enqueue',
    );
    return enqueued?.type === 'decision' ? enqueued.data?.['deadline'] : undefined;
  };
  expect(await actionOf('realtime')).toMatchObject({ action: 'fallback' });
  expect(await actionOf('high')).toEqual({ action: 'partial' });
  expect(await actionOf('normal')).toMatchObject({ action: 'retry', attempts: 3 });
  expect(await actionOf('low')).toMatchObject({ action: 'retry_when_idle' });
  expect(await actionOf('background')).toBeUndefined();
  await assistant.app.close();
});

test('an app has its own deadlines by priority, and a task goes before them', async () => {
  const job = step({ name: 'job', execute: async (ctx) => ctx.complete('done') });
  const work = { deadlines: { low: { hardMs: 5 } } };
  const { app, clock } = desk({ runnables: [job], work, recover: 'manual' });
  const hardAt = async (options: Parameters<Runtime['submit']>[2]) =>
    (await (await app.submit(job, 'x', options)).info()).hardDeadlineAt;
  expect(await hardAt({ priority: 'low' })).toBe(clock.now() + 5);
  expect(await hardAt({})).toBeUndefined();
  expect(await hardAt({ priority: 'low', deadline: { softMs: 7 } })).toBeUndefined();
  await app.close();
});

test.each([
  [{ hardMs: 2, softMs: 2 }, 'softMs'],
  [{ action: 'partial' }, 'hardMs'],
  [{ hardMs: 1, action: 'explode' }, 'action'],
  [{ hardMs: 1, action: 'fallback' }, 'fallback'],
  [{ hardMs: 1, fallback: 'Sorry.' }, 'fallback'],
  [{ hardMs: 1, action: 'partial', retryAfterMs: 1 }, 'retryAfterMs'],
  [{ hardMs: 1, action: 'partial', attempts: 2 }, 'attempts'],
])('the deadline %j is refused', async (deadline, named) => {
  const { app } = desk();
  const job = step({ name: 'job', execute: async (ctx) => ctx.complete('done') });
  await expect(app.submit(job, 'x', { deadline: deadline as object })).rejects.toMatchObject({
    code: 'invalid_task',
    message: expect.stringContaining(named),
  });
  expect(() => runtime({ app: 'desk', work: { deadlines: { low: deadline as object } } })).toThrow(
    expect.objectContaining({ code: 'invalid_runtime' }),
  );
  await app.close();
});
