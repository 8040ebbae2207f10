import { step } from 'adjutant';
import { expect, test } from 'vitest';
import { payingClerk } from '../paying-clerk.ts';
import { decisionsOf, desk, jobs, levelMs, reaches, rounds } from './desk.ts';

test('aged_background_backlog_and_fresh_high: it waits for one round, and leaves one', async () => {
  const order: string[] = [];
  const { job, ran } = jobs();
  const backlog = rounds('backlog', 4, async (round) => {
    order.push(`round ${round}`);
    if (round === 1) urgent = await app.submit(job, 'urgent', { priority: 'high' });
    if (round === 2) order.push(`urgent is ${(await urgent?.info())?.state}`);
  });
  let urgent: Awaited<ReturnType<typeof app.submit>> | undefined;
  const { app, clock, store } = desk({ runnables: [backlog, job], recover: 'manual' });
  const old = await app.submit(backlog, 'old', { priority: 'background' });
  const others = [];
  for (let i = 0; i < 3; i++)
    others.push(await app.submit(job, `old ${i}`, { priority: 'background' }));
  // By their age all of them go before a fresh task of a high priority.
  clock.advance(4 * levelMs);
  const worker = desk({ runnables: [backlog, job], store, ports: { clock } }).app;
  expect(await old.wait()).toMatchObject({ output: 'backlog is done' });
  expect(order).toEqual(['round 1', 'round 2', 'urgent is completed', 'round 3']);
  await Promise.all(others.map((task) => task.wait()));
  expect(ran[0]).toBe('urgent');
  await worker.close();
});

test('preempt_pingpong_never: an aged task makes a round between two that go first', async () => {
  const order: string[] = [];
  const { job, ran } = jobs(() => order.push(ran.at(-1) ?? ''));
  const urgent: Awaited<ReturnType<typeof app.submit>>[] = [];
  const aged = rounds('aged', 6, async (round) => {
    order.push(`round ${round}`);
    if (round > 1) return;
    for (const name of ['a', 'b', 'c'])
      urgent.push(await app.submit(job, name, { priority: 'high' }));
  });
  const { app, clock, store } = desk({ runnables: [aged, job], recover: 'manual' });
  const task = await app.submit(aged, 'go', { priority: 'background' });
  clock.advance(100 * levelMs);
  const worker = desk({ runnables: [aged, job], store, ports: { clock } }).app;
  expect(await task.wait()).toMatchObject({ status: 'completed' });
  for (const one of urgent) expect(await one.wait()).toMatchObject({ status: 'completed' });
  expect(order).toEqual(['round 1', 'a', 'round 2', 'b', 'round 3', 'c', 'round 4', 'round 5']);
  const preempted = (await decisionsOf(app, task.session)).filter((one) => one === 'preempt');
  expect(preempted).toHaveLength(3);
  await worker.close();
});

test('one_waiting_task_preempts_one_worker', async () => {
  const { job } = jobs();
  let begun = 0;
  const all = Promise.withResolvers<void>();
  const agents = [1, 2, 3, 4].map((number) =>
    rounds(`worker ${number}`, 4, async (round) => {
      if (round > 1) return;
      begun += 1;
      if (begun === 4) {
        await app.submit(job, 'urgent', { priority: 'high' });
        all.resolve();
      }
      await all.promise;
    }),
  );
  const { app } = desk({ runnables: [...agents, job], work: { slots: 4 } });
  const tasks = [];
  for (const one of agents) tasks.push(await app.submit(one, 'go', { priority: 'low' }));
  for (const task of tasks) expect(await task.wait()).toMatchObject({ status: 'completed' });
  const decisions = await Promise.all(tasks.map(({ session }) => decisionsOf(app, session)));
  expect(decisions.flat().filter((one) => one === 'preempt')).toHaveLength(1);
  await app.close();
});

test('step_longer_than_slice_progresses: each time in its place it ends one child', async () => {
  const { job } = jobs();
  const children = [1, 2, 3].map((number) =>
    rounds(`child ${number}`, 2, async () => {
      calls.push(number);
      await app.submit(job, `urgent ${number}`, { priority: 'high' });
    }),
  );
  const calls: number[] = [];
  let entered = 0;
  const long = step({
    name: 'long',
    execute: async (ctx) => {
      entered += 1;
      const outputs = [];
      for (const child of children) outputs.push((await ctx.call(child)).output ?? '');
      return ctx.complete(outputs);
    },
  });
  const { app } = desk({ runnables: [long, job] });
  const task = await app.submit(long, 'go', { priority: 'background' });
  expect(await task.wait()).toMatchObject({
    output: ['child 1 is done', 'child 2 is done', 'child 3 is done'],
  });
  // Nothing is done twice, however often it gave its place up.
  expect(calls).toEqual([1, 2, 3]);
  const preempted = (await decisionsOf(app, task.session)).filter((one) => one === 'preempt');
  expect(preempted).toHaveLength(3);
  expect(entered).toBe(4);
  await app.close();
});

test('parents_fill_slots_children_run', async () => {
  const { job, ran } = jobs();
  const parent = step({
    name: 'parent',
    execute: async (ctx) => {
      const handles = [1, 2].map((number) => ctx.spawn(job, { message: `child ${number}` }));
      const ends = await Promise.all(handles.map((handle) => handle.wait()));
      return ctx.complete(ends.map(({ output }) => output ?? ''));
    },
  });
  const { app } = desk({ runnables: [parent, job], work: { slots: 2 } });
  const tasks = [];
  for (let i = 0; i < 3; i++) tasks.push(await app.submit(parent, `${i}`));
  for (const task of tasks)
    expect(await task.wait()).toMatchObject({ output: ['did child 1', 'did child 2'] });
  expect(ran).toHaveLength(6);
  await app.close();
});

test('rolling_deploy_takes_by_name: old code leaves new tasks to new code', async () => {
  const { job, ran } = jobs();
  const fresh = step({ name: 'fresh', execute: async (ctx) => ctx.complete('new code') });
  const { app: old, clock, store } = desk({ runnables: [job] });
  const front = desk({ store, ports: { clock }, recover: 'manual' }).app;
  const task = await front.submit(fresh, 'go', { priority: 'high' });
  const known = await front.submit(job, 'known', { priority: 'low' });
  expect(await known.wait()).toMatchObject({ status: 'completed' });
  expect(ran).toEqual(['known']);
  expect(await task.info()).toMatchObject({ state: 'queued' });
  expect(await old.tasks.explain(task.id)).toMatchObject({ block: { kind: 'out_of_scope' } });
  const deployed = desk({ store, ports: { clock }, runnables: [job, fresh] }).app;
  expect(await task.wait()).toMatchObject({ output: 'new code' });
  await deployed.close();
});

test('suspended_task_gets_message_stays', async () => {
  const talk = rounds('talk', 2, () => undefined);
  const { app } = desk({ runnables: [talk], recover: 'manual' });
  const task = await app.submit(talk, 'go');
  await app.tasks.suspend(task.id);
  await app.send(task.session, 'Hello?');
  expect(await app.recovery.resumeStopped()).toEqual([]);
  expect(await task.info()).toMatchObject({ state: 'suspended' });
  await app.tasks.resume(task.id);
  await Promise.all(await app.recovery.resumeStopped());
  expect(await task.wait()).toMatchObject({ status: 'completed' });
  const { events } = await app.sessions.open({ id: task.session });
  const said = events.flatMap((event) => (event.type === 'user' ? [event.text] : []));
  expect(said.toSorted()).toEqual(['Hello?', 'go']);
  await app.close();
});

test('cancel_of_queued_task_without_slots', async () => {
  const { job, ran, hold, free } = jobs();
  hold('first');
  const { app } = desk({ runnables: [job] });
  const first = await app.submit(job, 'first');
  await reaches(app, first.id, 'running');
  const queued = await app.submit(job, 'queued');
  await queued.cancel();
  // The only place is taken all the time.
  expect(await queued.wait()).toMatchObject({ status: 'cancelled' });
  expect(await first.info()).toMatchObject({ state: 'running' });
  free('first');
  await first.wait();
  expect(ran).toEqual(['first']);
  await app.close();
});

test('useless_item_does_not_spin: what only informs makes no worker look twice', async () => {
  const clerk = payingClerk();
  const { job } = jobs();
  const { app } = desk({ runnables: [clerk, job], recover: 'manual' });
  const look = async () => {
    const runs = await app.recovery.resumeStopped();
    await Promise.allSettled(runs);
    return runs.length;
  };
  const asking = await app.submit(clerk, 'Pay', { session: 'ann' });
  expect(await look()).toBe(1);
  await app.tasks.reprioritize(asking.id, 'high');
  await app.tasks.moveToFront(asking.id);
  await app.submit(job, 'behind', { session: 'ann', priority: 'realtime' });
  await app.sessions.grant('ann', ['fs:write']);
  const looks = [];
  for (let i = 0; i < 4; i++) looks.push(await look());
  // The permission is noted once; nothing else is worth a look.
  expect(looks.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(1);
  expect(await asking.info()).toMatchObject({ state: 'waiting', priority: 'realtime' });
  await app.close();
});
