import { agent, step, tool } from 'adjutant';
import { crashingStore, roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { desk, jobs, levelMs, reaches } from './desk.ts';

const minute = 60_000;

test('key_holder_killed_frees_key: when its lease is over, and not before', async () => {
  const { job, ran } = jobs();
  const lease = { ttlMs: minute };
  const { app: front, clock, store } = desk({ runnables: [job], recover: 'manual', lease });
  const key = { concurrencyKey: 'printer' };
  const holder = await front.submit(job, 'held', key);
  const next = await front.submit(job, 'next', key);
  const line = crashingStore(store, 1, 'before');
  const process = { runnables: [job], ports: { clock }, lease };
  desk({ ...process, store: line.store });
  await line.crashed;
  const other = desk({ ...process, store, recover: 'manual' }).app;
  expect(await other.recovery.resumeStopped()).toEqual([]);
  expect(await front.tasks.explain(next.id)).toMatchObject({
    block: { kind: 'key', key: 'printer', holders: [holder.session] },
  });
  clock.advance(2 * minute);
  for (let i = 0; i < 2; i++) await Promise.all(await other.recovery.resumeStopped());
  expect(await holder.wait()).toMatchObject({ status: 'completed' });
  expect(await next.wait()).toMatchObject({ status: 'completed' });
  expect(ran.at(-1)).toBe('next');
  await other.close();
});

test('resume_does_not_pass_key', async () => {
  const { job, ran, hold, free } = jobs();
  hold('held');
  const { app } = desk({ runnables: [job], work: { slots: 4 } });
  const key = { concurrencyKey: 'printer' };
  const holder = await app.submit(job, 'held', key);
  await reaches(app, holder.id, 'running');
  const next = await app.submit(job, 'next', key);
  await expect(app.resume(next.session)).rejects.toMatchObject({ code: 'key_busy' });
  expect(ran).toEqual(['held']);
  free('held');
  expect(await next.wait()).toMatchObject({ status: 'completed' });
  await app.close();
});

test('flood_of_one_requester_shares_hold', async () => {
  const { job, ran, hold, free } = jobs();
  hold('first');
  const { app } = desk({ runnables: [job] });
  const first = await app.submit(job, 'first');
  await reaches(app, first.id, 'running');
  const tasks = [];
  for (let i = 0; i < 60; i++) tasks.push(await app.submit(job, 'flood', { requester: 'flood' }));
  for (let i = 0; i < 6; i++) tasks.push(await app.submit(job, 'ann', { requester: 'ann' }));
  free('first');
  await Promise.all(tasks.map((task) => task.wait()));
  // Half of the places are hers, for as long as she has tasks.
  expect(ran.slice(0, 16).filter((name) => name === 'ann')).toHaveLength(6);
  await app.close();
});

test('ever_new_requesters_starve_nobody', async () => {
  const { job, ran, hold, free } = jobs();
  hold('first');
  const { app, clock } = desk({ runnables: [job] });
  const first = await app.submit(job, 'first', { requester: 'old' });
  await reaches(app, first.id, 'running');
  const tasks = [];
  for (let i = 0; i < 3; i++) tasks.push(await app.submit(job, 'old', { requester: 'old' }));
  clock.advance(1_000);
  for (let i = 0; i < 70; i++) tasks.push(await app.submit(job, 'new', { requester: `new ${i}` }));
  free('first');
  await Promise.all(tasks.map((task) => task.wait()));
  // Every 32nd place goes to the oldest, whoever it is of.
  expect(ran.slice(0, 34)).toContain('old');
  await app.close();
});

test('cancel_1000_costs_no_share: cancelled tasks charge nothing', async () => {
  // Each of them works for a second.
  const { job, ran, hold, free } = jobs(() => clock.advance(1_000));
  hold('first');
  const { app, clock } = desk({ runnables: [job] });
  const first = await app.submit(job, 'first');
  await reaches(app, first.id, 'running');
  const cancelled = [];
  for (let i = 0; i < 100; i++) cancelled.push(await app.submit(job, 'no', { requester: 'ann' }));
  for (const task of cancelled) await task.cancel();
  for (const task of cancelled) expect((await task.wait()).status).toBe('cancelled');
  const tasks = [];
  for (const requester of ['bob', 'ann', 'bob', 'ann', 'bob', 'ann'])
    tasks.push(await app.submit(job, requester, { requester }));
  free('first');
  await Promise.all(tasks.map((task) => task.wait()));
  expect(ran.slice(1, 5).toSorted()).toEqual(['ann', 'ann', 'bob', 'bob']);
  await app.close();
});

test('poisoned_head_with_five_workers: the others are carried out', async () => {
  const { job } = jobs();
  const poison = step({ name: 'poison', execute: async (ctx) => ctx.complete('never') });
  const { app: front, clock, store } = desk({ runnables: [job], recover: 'manual' });
  const head = await front.submit(poison, 'x', { priority: 'high' });
  const tasks = [];
  for (let i = 0; i < 10; i++) tasks.push(await front.submit(job, `${i}`, { priority: 'low' }));
  let asked = 0;
  // They find runnables at run time, so that they take everything.
  const resolve = (): undefined => {
    asked += 1;
  };
  const workers = [1, 2, 3, 4, 5].map(
    () => desk({ runnables: [job], store, ports: { clock }, resolve }).app,
  );
  for (const task of tasks) expect(await task.wait()).toMatchObject({ status: 'completed' });
  expect(await head.info()).toMatchObject({ state: 'queued' });
  // Each of them has tried it once, and looks at it again only after a pause.
  expect(asked).toBeLessThanOrEqual(15);
  await workers[0]?.close();
});

test('answered_after_three_days_queues_now', async () => {
  const { job, ran, hold, free } = jobs();
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: { type: 'object' },
    approval: { expiresInMs: 30 * 24 * 60 * minute },
    execute: () => {
      ran.push('pay');
      return 'paid';
    },
  });
  const model = roundModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'Paid' }]);
  const clerk = agent({ name: 'clerk', model, tools: [pay] });
  const lease = { ttlMs: 30 * 24 * 60 * minute };
  const { app, clock } = desk({ runnables: [job, clerk], lease });
  const asking = await app.submit(clerk, 'Pay');
  await reaches(app, asking.id, 'waiting');
  clock.advance(3 * 24 * 60 * minute);
  hold('first');
  const first = await app.submit(job, 'first');
  await reaches(app, first.id, 'running');
  const second = await app.submit(job, 'second');
  clock.advance(1_000);
  const [asked] = await app.requests.listPendingApprovals({ session: asking.session });
  await app.requests.approve(asked?.requestId ?? '');
  await reaches(app, asking.id, 'queued');
  free('first');
  await Promise.all([second.wait(), asking.wait()]);
  expect(ran).toEqual(['first', 'second', 'pay']);
  await app.close();
});

test('coalesce_against_begin: a task that has begun is joined by nobody', async () => {
  const { job, ran, hold, free } = jobs();
  hold('x');
  const { app } = desk({ runnables: [job] });
  const first = await app.submit(job, 'x', { coalesceKey: true });
  await reaches(app, first.id, 'running');
  const second = await app.submit(job, 'x', { coalesceKey: true });
  const third = await app.submit(job, 'x', { coalesceKey: true });
  expect([second.joined, third.joined, third.id === second.id]).toEqual([false, true, true]);
  free('x');
  await Promise.all([first.wait(), second.wait()]);
  expect(ran).toEqual(['x', 'x']);
  await app.close();
});

test('joined_cancel_keeps_task: only the last interest ends it', async () => {
  const { job, ran } = jobs();
  const { app } = desk({ runnables: [job], recover: 'manual' });
  const submit = () => app.submit(job, 'x', { coalesceKey: true, requester: 'ann' });
  const joined = [await submit(), await submit(), await submit()];
  await joined[0]?.cancel();
  await joined[1]?.cancel();
  expect(await joined[2]?.info()).toMatchObject({ state: 'queued' });
  await joined[2]?.cancel();
  await Promise.all(await app.recovery.resumeStopped());
  expect(await joined[0]?.wait()).toMatchObject({ status: 'cancelled' });
  expect(ran).toEqual([]);
  await app.close();
});

test('retry_at_full_level_admitted: its own, and that of an operator', async () => {
  let failures = 2;
  const flaky = step({
    name: 'flaky',
    execute: async (ctx) => {
      if (failures-- > 0) throw new Error('Not yet.');
      return ctx.complete('done');
    },
  });
  const { job } = jobs();
  const work = { slots: 1, admission: { priorities: { normal: 1 } } };
  const { app, clock } = desk({ runnables: [flaky, job], work, recover: 'manual' });
  const look = async () => Promise.allSettled(await app.recovery.resumeStopped());
  const task = await app.submit(flaky, 'x', { retry: { attempts: 2, initialDelayMs: 1_000 } });
  await look();
  const full = await app.submit(job, 'full', { delayMs: 10 * levelMs });
  await app.tasks.suspend(full.id);
  const other = await app.submit(job, 'other');
  await expect(app.submit(job, 'more')).rejects.toMatchObject({ code: 'queue_full' });
  clock.advance(1_000);
  for (let i = 0; i < 3; i++) await look();
  expect(await task.info()).toMatchObject({ state: 'failed', attempts: 2 });
  expect(await other.info()).toMatchObject({ state: 'completed' });
  await app.submit(job, 'fills', { notBefore: 0 });
  await expect(app.submit(job, 'more')).rejects.toMatchObject({ code: 'queue_full' });
  await app.tasks.retry(task.id);
  for (let i = 0; i < 3; i++) await look();
  expect(await task.info()).toMatchObject({ state: 'completed' });
  await app.close();
});

test('two_operators_retry: one execution', async () => {
  let calls = 0;
  const failing = step({
    name: 'failing',
    execute: async () => {
      calls += 1;
      throw new Error('No.');
    },
  });
  const { app } = desk({ runnables: [failing] });
  const task = await app.submit(failing, 'x');
  await task.wait();
  await Promise.all([
    app.tasks.retry(task.id, { by: 'operator:ann' }),
    app.tasks.retry(task.id, { by: 'operator:bob' }),
  ]);
  await task.wait();
  expect(calls).toBe(2);
  expect(await task.info()).toMatchObject({ state: 'failed', attempts: 2 });
  await app.close();
});
