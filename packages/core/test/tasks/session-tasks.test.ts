import { memoryStore, type Runtime, type RuntimeOptions, runtime, step } from 'adjutant';
import { testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { jobs, reaches } from './failures/desk.ts';
import { payingClerk } from './paying-clerk.ts';

/** An app of one place, and jobs that note their messages and wait while they are held. */
function desk(options: Partial<RuntimeOptions> = {}) {
  const { job, ...control } = jobs();
  const store = memoryStore();
  const work = { slots: 1 };
  const app = runtime({ app: 'desk', store, runnables: [job], work, ...options });
  return { app, job, ...control };
}

const turnOf = (app: Runtime, session: string) =>
  app.store.for({ tenant: 'default', app: 'desk' }).turn(session);

test('tasks of one session run one after the other, in the order of submission', async () => {
  const { app, job, ran, hold, free } = desk({ work: { slots: 4 } });
  hold('one');
  const tasks = [];
  for (const message of ['one', 'two', 'three'])
    tasks.push(await app.submit(job, message, { session: 'ann' }));
  await reaches(app, tasks[0]?.id ?? '', 'running');
  expect(await tasks[1]?.info()).toMatchObject({ state: 'queued', session: 'ann' });
  free('one');
  const ends = await Promise.all(tasks.map((task) => task.wait()));
  expect(ends.map(({ output }) => output)).toEqual(['did one', 'did two', 'did three']);
  expect(ran).toEqual(['one', 'two', 'three']);
  const { events } = await app.sessions.open({ id: 'ann' });
  const started = events.filter(({ type }) => type === 'invocation_start');
  expect(started.map(({ invocationId }) => invocationId)).toEqual(tasks.map(({ id }) => id));
  while ((await turnOf(app, 'ann')) !== undefined) await new Promise(setImmediate);
  await app.close();
});

test('urgent_message_behind_background_run_of_session', async () => {
  const { app, job, ran, hold, free } = desk();
  hold('first');
  const first = await app.submit(job, 'first', { priority: 'high' });
  await reaches(app, first.id, 'running');
  const background = await app.submit(job, 'slow', { session: 'ann', priority: 'background' });
  const normal = await app.submit(job, 'normal', { priority: 'normal' });
  const urgent = await app.submit(job, 'urgent', { session: 'ann', priority: 'high' });
  expect(await turnOf(app, 'ann')).toMatchObject({ level: 1, run: background.id });
  free('first');
  await Promise.all([background, normal, urgent].map((task) => task.wait()));
  expect(ran).toEqual(['first', 'slow', 'urgent', 'normal']);
  await app.close();
});

test('a task that was made urgent stays so while it waits for another of its session', async () => {
  const { app, job, hold, free } = desk({ recover: 'auto', work: { slots: 1 } });
  hold('one');
  hold('two');
  const one = await app.submit(job, 'one', { session: 'ann' });
  await reaches(app, one.id, 'running');
  const two = await app.submit(job, 'two', { session: 'ann', priority: 'low' });
  const three = await app.submit(job, 'three', { session: 'ann', priority: 'low' });
  await app.tasks.reprioritize(three.id, 'high');
  free('one');
  await reaches(app, two.id, 'running');
  expect(await turnOf(app, 'ann')).toMatchObject({ level: 1, run: two.id });
  free('two');
  expect(await three.wait()).toMatchObject({ status: 'completed' });
  await app.close();
});

test('a task behind one that waits for a person takes no place and wakes nothing', async () => {
  const clerk = payingClerk();
  const { app, job, ran } = desk();
  const asking = await app.submit(clerk, 'Pay', { session: 'ann' });
  await reaches(app, asking.id, 'waiting');
  const behind = await app.submit(job, 'behind', { session: 'ann' });
  expect(await turnOf(app, 'ann')).toMatchObject({ state: 'resting', run: asking.id });
  expect(await app.recovery.resumeStopped()).toEqual([]);
  expect(await app.tasks.explain(behind.id)).toMatchObject({
    text: expect.stringContaining('another task of its session'),
  });
  const other = await app.submit(job, 'other');
  await other.wait();
  expect(ran).toEqual(['other']);
  const [asked] = await app.requests.listPendingApprovals({ session: 'ann' });
  await app.requests.approve(asked?.requestId ?? '');
  expect(await asking.wait()).toMatchObject({ output: 'Paid' });
  expect(await behind.wait()).toMatchObject({ output: 'did behind' });
  await app.close();
});

test('a run that a caller started goes first, and does not get the input of the task', async () => {
  const { app, job, ran, hold, free } = desk();
  hold('run');
  const run = app.run(job, { input: 'run', session: 'ann' });
  while (ran.length === 0) await new Promise(setImmediate);
  const task = await app.submit(job, 'task', { session: 'ann' });
  free('run');
  expect((await run).output).toBe('did run');
  expect(await task.wait()).toMatchObject({ output: 'did task' });
  await app.close();
});

test('a task that waits for another of its session is cancelled', async () => {
  const { app, job, ran, hold, free } = desk();
  hold('one');
  const one = await app.submit(job, 'one', { session: 'ann' });
  const two = await app.submit(job, 'two', { session: 'ann' });
  await reaches(app, one.id, 'running');
  await two.cancel();
  free('one');
  expect(await one.wait()).toMatchObject({ status: 'completed' });
  expect(await two.wait()).toMatchObject({ status: 'cancelled' });
  expect(ran).toEqual(['one']);
  await app.close();
});

test('a task that is executed again later lets the others of its session go first', async () => {
  const clock = testClock();
  let failures = 1;
  const flaky = step({
    name: 'flaky',
    execute: async (ctx) => {
      if (failures-- > 0) throw new Error('Not yet.');
      return ctx.complete('done');
    },
  });
  const store = memoryStore({ clock });
  const { app, job, ran } = desk({ store, ports: { clock } });
  const retry = { attempts: 2, initialDelayMs: 60_000 };
  const again = await app.submit(flaky, 'x', { session: 'ann', retry });
  const other = await app.submit(job, 'other', { session: 'ann' });
  expect(await other.wait()).toMatchObject({ status: 'completed' });
  expect(await again.info()).toMatchObject({ attempts: 2, error: { message: 'Not yet.' } });
  clock.advance(60_000);
  await app.recovery.resumeStopped();
  expect(await again.wait()).toMatchObject({ status: 'completed', output: 'done' });
  // A task of the session that has ended is executed again behind newer ones.
  failures = 1;
  const failed = await app.submit(flaky, 'y', { session: 'ann' });
  await failed.wait();
  await (await app.submit(job, 'last', { session: 'ann' })).wait();
  await app.tasks.retry(failed.id);
  expect(await failed.wait()).toMatchObject({ status: 'completed' });
  expect(ran).toEqual(['other', 'last']);
  await app.close();
});

test('the same key of one session is one task, and of another session another one', async () => {
  const { app, job } = desk({ recover: 'manual' });
  const ids = [];
  for (const session of ['ann', 'ann', 'bob'])
    ids.push((await app.submit(job, 'x', { session, key: 'k' })).id);
  expect(ids[1]).toBe(ids[0]);
  expect(ids[2]).not.toBe(ids[0]);
  expect(await app.tasks.list({ session: 'ann' })).toHaveLength(1);
  await expect(app.submit(job, 'x', { session: '' })).rejects.toMatchObject({
    code: 'invalid_task',
  });
  await app.close();
});
