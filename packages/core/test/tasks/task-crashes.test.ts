import { agent, memoryStore, type Runtime, runtime, type Store, step, tool } from 'adjutant';
import { systemClock } from 'adjutant/ports';
import { crashingStore, roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

const leaseMs = 30_000;

/** Effects outside, which no stop of a process undoes. */
class Outside {
  readonly payments = new Set<string>();
  failures = 1;
}

/** A process of the app, with definitions of its own. */
function processOn(store: Store, outside: Outside, recover: 'auto' | 'manual'): Runtime {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: { type: 'object' },
    recovery: 'rerun',
    execute: ({ idempotencyKey }) => {
      outside.payments.add(idempotencyKey);
      return 'paid';
    },
  });
  const model = roundModel([
    { toolCalls: [{ name: 'pay', args: { n: 1 } }], delayMs: 5 },
    { toolCalls: [{ name: 'pay', args: { n: 2 } }], delayMs: 5 },
    { text: 'Done', delayMs: 5 },
  ]);
  const clerk = agent({ name: 'clerk', model, tools: [pay] });
  return runtime({
    app: 'shop',
    store,
    runnables: [clerk, flaky(outside)],
    recover,
    work: { slots: 1 },
    lease: { ttlMs: leaseMs },
  });
}

/** A step that has an effect and fails once. */
function flaky(outside: Outside) {
  return step({
    name: 'flaky',
    execute: async (ctx) => {
      await ctx.effect('pay', ({ idempotencyKey }) => void outside.payments.add(idempotencyKey), {
        recovery: 'rerun',
      });
      // The effect is stored before the end is made.
      await ctx.sleep('pause', 5);
      if (outside.failures-- > 0) throw new Error('Not yet.');
      return ctx.complete('Done');
    },
  });
}

async function stoppedAt(
  number: number,
  when: 'before' | 'after',
  change: 'none' | 'priority',
  name = 'clerk',
) {
  let ahead = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  const store = memoryStore({ clock });
  const outside = new Outside();
  const front = processOn(store, outside, 'manual');
  const clerk = front.runnables.find((each) => each.name === name);
  if (clerk === undefined) throw new Error(`There is no ${name}.`);
  const retry = { attempts: 2, initialDelayMs: 1 };
  const task = await front.submit(clerk, 'Pay twice', { key: 'one', priority: 'low', retry });
  const line = crashingStore(store, number, when);
  const first = processOn(line.store, outside, 'auto');
  await Promise.race([line.crashed, task.wait()]);
  const wasStopped = line.isGone;
  // A process that has stopped is never answered, and cannot be closed.
  if (!wasStopped) await first.close();
  // The submission again, and a change of its place, while nobody works on it.
  expect((await front.submit(clerk, 'Pay twice', { key: 'one', retry })).id).toBe(task.id);
  const hasEnded = (await task.info()).state === 'completed';
  if (change === 'priority' && !hasEnded) await front.tasks.reprioritize(task.id, 'high');
  ahead += 2 * leaseMs;
  const second = processOn(store, outside, 'auto');
  await task.wait();
  const { events } = await front.sessions.open({ id: task.session });
  const info = await front.tasks.get(task.id);
  const turn = await turnOf(store, task.session);
  await second.close();
  return { events, info, outside, wasStopped, turn };
}

const turnOf = (store: Store, session: string) =>
  store.for({ tenant: 'default', app: 'shop' }).turn(session);

test.each([
  ['before', 'none'],
  ['after', 'none'],
  ['before', 'priority'],
  ['after', 'priority'],
] as const)(
  'a task ends once wherever its worker stops %s an append, with a change of its %s meanwhile',
  async (when, change) => {
    let stops = 0;
    for (let number = 1; ; number++) {
      const end = await stoppedAt(number, when, change);
      if (!end.wasStopped) break;
      stops += 1;
      const { events, info, outside, turn } = end;
      expect(info).toMatchObject({ state: 'completed', result: 'Done', roundsCompleted: 3 });
      expect(turn).toBe(undefined);
      expect(outside.payments.size).toBe(2);
      const ofType = (type: string) => events.filter((event) => event.type === type);
      expect(ofType('invocation_end')).toHaveLength(1);
      expect(ofType('user')).toHaveLength(1);
      const answered = events.filter(
        (event) => event.type === 'model_end' && event.status === 'completed',
      );
      expect(answered).toHaveLength(3);
      const enqueued = events.filter(
        (event) => event.type === 'decision' && event.decision === 'enqueue',
      );
      expect(enqueued).toHaveLength(1);
    }
    expect(stops).toBeGreaterThanOrEqual(3);
  },
);

test.each(['before', 'after'] as const)(
  'crash_between_task_failure_and_requeue: executed again once, stopped %s any append',
  async (when) => {
    let stops = 0;
    for (let number = 1; ; number++) {
      const end = await stoppedAt(number, when, 'none', 'flaky');
      if (!end.wasStopped) break;
      stops += 1;
      const { events, info, outside, turn } = end;
      expect(info).toMatchObject({ state: 'completed', result: 'Done' });
      expect(turn).toBe(undefined);
      expect(outside.payments.size).toBe(1);
      const retries = events.filter(
        (event) => event.type === 'decision' && event.decision === 'retry',
      );
      const reopened = events.filter(({ type }) => type === 'invocation_reopen');
      expect(reopened).toHaveLength(retries.length);
      expect(info.attempts).toBe(retries.length + 1);
    }
    expect(stops).toBeGreaterThanOrEqual(3);
  },
);
