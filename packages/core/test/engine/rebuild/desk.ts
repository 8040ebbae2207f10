import { agent, type Runtime, runtime, type Store, step, tool } from 'adjutant';
import { roundModel, type testClock } from 'adjutant/testing';
import { z } from 'zod';

type TestClock = ReturnType<typeof testClock>;

const quick = step({ name: 'quick', execute: async (ctx) => ctx.complete('quick') });
const failing = step({
  name: 'failing',
  execute: async () => {
    throw new Error('It does not work.');
  },
});
const asking = step({
  name: 'asking',
  execute: async (ctx) =>
    ctx.complete(
      await ctx.ask('q', { message: 'Which one?', schema: z.object({ n: z.number() }) }),
    ),
});

export interface Desk {
  readonly app: Runtime;
  /** Work that was done, in its order. */
  readonly done: string[];
}

/** An app whose tasks run only when they are asked to. */
export function openDesk(store: Store, clock: TestClock): Desk {
  const done: string[] = [];
  let urgent: Promise<unknown> | undefined;
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: { type: 'object' },
    execute: async () => {
      done.push('looked');
      urgent ??= app.submit(quick, 'Now', { key: 'urgent', priority: 'realtime' });
      await urgent;
      return 'seen';
    },
  });
  const calls = Array.from({ length: 3 }, (_, i) => ({
    toolCalls: [{ name: 'look', args: { i } }],
  }));
  const slow = agent({
    name: 'slow',
    model: roundModel([...calls, { text: 'Done' }]),
    tools: [look],
  });
  const app = runtime({
    app: 'desk',
    store,
    runnables: [quick, failing, asking, slow],
    recover: 'manual',
    work: { slots: 1 },
    ports: { clock },
  });
  return { app, done };
}

/** Lets a worker take one turn. */
async function workOnce({ app }: Desk): Promise<void> {
  await Promise.allSettled(await app.recovery.resumeStopped());
}

async function workUntilNone(desk: Desk): Promise<void> {
  for (;;) {
    const runs = await desk.app.recovery.resumeStopped();
    if (runs.length === 0) return;
    await Promise.allSettled(runs);
  }
}

/** Fills a store with tasks and requests in all states that rest. */
export async function fill(desk: Desk, clock: TestClock): Promise<void> {
  await endTasks(desk, clock);
  await askQuestions(desk, clock);
  await shareSessions(desk, clock);
  await preemptOne(desk, clock);
  await queueTasks(desk, clock);
}

async function endTasks(desk: Desk, clock: TestClock): Promise<void> {
  const { app } = desk;
  await app.submit(quick, 'x', {
    key: 'completed',
    requester: 'ann',
    deadline: { hardMs: 60_000 },
  });
  await app.submit(failing, 'x', { key: 'failed', priority: 'low' });
  const discarded = await app.submit(failing, 'x', { key: 'discarded' });
  await app.submit(failing, 'again', { key: 'again', name: 'again', concurrencyKey: 'again' });
  await app.submit(failing, 'x', {
    key: 'later',
    deadline: { softMs: 5_000, hardMs: 90_000 },
    retry: { attempts: 3, initialDelayMs: 10_000_000 },
  });
  const cancelled = await app.submit(quick, 'x', { key: 'cancelled' });
  clock.advance(1_500);
  await cancelled.cancel({ reason: 'Nobody needs it.' });
  await workUntilNone(desk);
  clock.advance(1_500);
  await app.tasks.discard(discarded.id);
}

async function askQuestions(desk: Desk, clock: TestClock): Promise<void> {
  const { app } = desk;
  const tasks: Awaited<ReturnType<Runtime['submit']>>[] = [];
  for (const key of ['pending', 'posted', 'answered', 'stopped']) {
    const more = { concurrencyKey: { name: key, limit: 1, hold: 'task' as const } };
    tasks.push(await app.submit(asking, 'x', { key, deadline: { hardMs: 500_000 }, ...more }));
  }
  clock.advance(2_000);
  await app.tasks.suspend(tasks[3]?.id ?? '');
  await app.tasks.resume(tasks[3]?.id ?? '');
  await workUntilNone(desk);
  clock.advance(2_000);
  const requests = await app.requests.list({ status: 'pending' });
  const of = (place: number) =>
    requests.find(({ session }) => session === tasks[place]?.session)?.requestId ?? '';
  await app.requests.answer(of(2), { decision: 'answer', input: { n: 1 }, by: 'user:ann' });
  await tasks[3]?.cancel();
  await workUntilNone(desk);
  clock.advance(2_000);
  await app.requests.answer(of(1), { decision: 'answer', input: { n: 2 }, by: 'user:bob' });
  await app.run(asking, { session: 'chat', input: 'x' });
  await app.run(quick, { session: 'other chat', input: 'Hello', runId: 'run' });
}

/** One task that stands for two of three submissions. */
async function joinOne({ app }: Pick<Desk, 'app'>, clock: TestClock): Promise<void> {
  const same = { coalesceKey: 'same', requester: 'ann', priority: 'low' } as const;
  await app.submit(quick, 'x', { ...same, key: 'one', deadline: { hardMs: 60_000 } });
  clock.advance(1_100);
  const more = { priority: 'normal', deadline: { softMs: 1_000, hardMs: 30_000 } } as const;
  await app.submit(quick, 'x', { ...same, ...more, key: 'two' });
  const third = await app.submit(quick, 'x', { ...same, key: 'three' });
  await third.cancel();
}

async function queueTasks({ app }: Desk, clock: TestClock): Promise<void> {
  const moved = await app.submit(quick, 'moved', { key: 'moved', priority: 'background' });
  clock.advance(1_100);
  for (const key of ['a', 'b', 'c']) {
    await app.submit(quick, key, {
      key,
      concurrencyKey: 'desk',
      priority: 'low',
      requester: 'ann',
    });
    clock.advance(1_100);
  }
  for (const key of ['r', 's']) {
    const rate = { name: 'mail', limit: 1, perMs: 1_000_000 };
    await app.submit(quick, key, { key, rate, estimateMs: 7_000, queue: 'mail' });
    clock.advance(1_100);
  }
  const suspended = await app.submit(quick, 'x', { key: 'suspended', coalesceKey: 'c' });
  await app.tasks.suspend(suspended.id, { reason: 'Not now.' });
  await joinOne({ app }, clock);
  await app.submit(quick, 'x', {
    ...{ key: 'tomorrow', delayMs: 86_400_000, deadline: { softMs: 10_000, hardMs: 20_000 } },
  });
  const first = await app.submit(quick, 'x', {
    key: 'reprioritized',
    deadline: { hardMs: 9_000_000 },
  });
  clock.advance(1_100);
  await app.tasks.reprioritize(first.id, 'low');
  await app.tasks.moveToFront(moved.id);
  const [again] = (await app.tasks.list({ states: ['failed'] })).filter(
    ({ name }) => name === 'again',
  );
  await app.tasks.retry(again?.id ?? '');
  await app.tasks.reprioritize(again?.id ?? '', 'background');
}

/** Tasks that wait behind another one of their session: one that asks, and one that failed. */
async function shareSessions(desk: Desk, clock: TestClock): Promise<void> {
  const { app } = desk;
  const asked = { session: 'asked together', requester: 'ann' };
  await app.submit(asking, 'x', { ...asked, key: '1', priority: 'low' });
  await workUntilNone(desk);
  clock.advance(1_100);
  await app.submit(quick, 'x', { ...asked, key: '2', priority: 'high' });
  clock.advance(1_100);
  const failed = { session: 'failed together', requester: 'bob' };
  await app.submit(failing, 'x', { ...failed, key: '1', priority: 'background' });
  await app.submit(failing, 'x', { ...failed, key: '2', deadline: { hardMs: 80_000 } });
  clock.advance(1_100);
  await workUntilNone(desk);
  const queued = { session: 'queued together', requester: 'bob' };
  await app.submit(quick, 'x', { ...queued, key: '1', priority: 'low' });
  clock.advance(1_100);
  await app.submit(quick, 'x', { ...queued, key: '2', priority: 'normal' });
  clock.advance(1_100);
}

async function preemptOne(desk: Desk, clock: TestClock): Promise<void> {
  await desk.app.submit(slow(desk), 'Work', {
    ...{ key: 'preempted', priority: 'high', deadline: { hardMs: 8_000_000 } },
  });
  clock.advance(1_100);
  await workOnce(desk);
  clock.advance(1_100);
}

function slow({ app }: Desk) {
  const found = app.runnables.find(({ name }) => name === 'slow');
  if (found === undefined) throw new Error('The app has no agent "slow".');
  return found;
}
