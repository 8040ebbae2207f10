import { agent, memoryStore, runtime, step, tool } from 'adjutant';
import { promptOf } from 'adjutant/context';
import { systemClock } from 'adjutant/ports';
import { replay } from 'adjutant/replay';
import { roundModel } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { expect, test } from 'vitest';

/** A store whose clock can be moved, and an agent of five rounds that calls back in each. */
function bureau(onRound: (round: number) => unknown) {
  let ahead = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  let round = 0;
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: { type: 'object' },
    recovery: 'rerun',
    execute: async () => {
      round += 1;
      await onRound(round);
      return 'seen';
    },
  });
  const rounds = [1, 2, 3, 4].map((i) => ({ toolCalls: [{ name: 'look', args: { i } }] }));
  const slow = agent({
    name: 'slow',
    model: roundModel([...rounds, { text: 'Done' }]),
    tools: [look],
  });
  const quick = agent({ name: 'quick', model: roundModel([{ text: 'Quick' }]) });
  const app = runtime({
    app: 'bureau',
    store: memoryStore({ clock }),
    runnables: [slow, quick],
    work: { slots: 1 },
  });
  const moveOn = (ms: number): void => {
    ahead += ms;
  };
  return { app, slow, quick, moveOn };
}

const schedulerDecisions = (events: readonly { readonly type: string }[]) =>
  events.flatMap((event) =>
    'component' in event && event.component === 'scheduler' && 'decision' in event
      ? [event.decision]
      : [],
  );

test('a task that gave up its place and passed a soft deadline replays', async () => {
  const made = bureau(async (round) => {
    if (round === 2) await made.app.submit(made.quick, 'Now', { priority: 'high' });
    // A receipt of the store tells the process the new time.
    if (round === 3) {
      made.moveOn(60_000);
      await made.app.submit(made.quick, 'Later', { priority: 'background' });
    }
  });
  const { app, slow } = made;
  const task = await app.submit(slow, 'Work', { deadline: { softMs: 60_000 } });
  expect(await task.wait()).toMatchObject({ status: 'completed' });
  const session = await app.sessions.open({ id: task.session });
  expect(schedulerDecisions(session.events)).toEqual(['enqueue', 'preempt', 'soft_deadline']);
  const last = session.events.findLast(({ type }) => type === 'model_start');
  const prompt = JSON.stringify(promptOf(session.events, last?.seq ?? 0));
  expect(prompt).toContain('TIME LIMIT');
  expect((await replay(session, app)).divergence).toBeUndefined();
  const told = explain(session).map((one) => JSON.stringify(one));
  expect(told.join('\n')).toContain('gave its place to a task of a higher priority');
  await app.close();
});

test('a replay finds an edit of the agent of a task', async () => {
  const made = bureau(() => undefined);
  const { app, slow } = made;
  const task = await app.submit(slow, 'Work');
  await task.wait();
  const session = await app.sessions.open({ id: task.session });
  const edited = agent({ name: 'slow', model: slow.model, instructions: 'Be brief.' });
  const other = runtime({ app: 'bureau', runnables: [edited] });
  expect((await replay(session, other)).divergence).toBeDefined();
  await Promise.all([app.close(), other.close()]);
});

test('a task that was executed again and cancelled tasks replay', async () => {
  let failures = 1;
  const flaky = step({
    name: 'flaky',
    effects: false,
    execute: async (ctx) => {
      if (failures-- > 0) throw new Error('Not yet.');
      return ctx.complete('Done');
    },
  });
  const app = runtime({ app: 'bureau', store: memoryStore(), runnables: [flaky] });
  const task = await app.submit(flaky, 'Go', { retry: { attempts: 2, initialDelayMs: 1 } });
  expect(await task.wait()).toMatchObject({ status: 'completed' });
  failures = 1;
  const session = await app.sessions.open({ id: task.session });
  expect((await replay(session, app)).divergence).toBeUndefined();
  const later = await app.submit(flaky, 'Go', { delayMs: 3_600_000 });
  await later.cancel();
  expect(await later.wait()).toMatchObject({ status: 'cancelled' });
  const cancelled = await app.sessions.open({ id: later.session });
  expect((await replay(cancelled, app)).divergence).toBeUndefined();
  await app.close();
});
