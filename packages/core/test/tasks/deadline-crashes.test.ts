import { memoryStore, type Runtime, runtime, type Store, step } from 'adjutant';
import { crashingStore, type TestClock, testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';

const minute = 60_000;
const leaseMs = 30 * minute;

/** Effects outside, which no stop of a process undoes. */
interface Outside {
  readonly payments: Set<string>;
  isStuck: boolean;
}

/** A process of the app, whose step pays and then waits until it is stuck no more. */
function processOn(store: Store, clock: TestClock, outside: Outside, recover: 'auto' | 'manual') {
  const job = step({
    name: 'job',
    execute: async (ctx) => {
      await ctx.effect('pay', ({ idempotencyKey }) => void outside.payments.add(idempotencyKey), {
        recovery: 'rerun',
      });
      if (outside.isStuck) await new Promise(() => undefined);
      return ctx.complete('Done');
    },
  });
  const lease = { ttlMs: leaseMs };
  const app = runtime({ app: 'shop', store, runnables: [job], recover, lease, ports: { clock } });
  return { app, job };
}

/** Lets the deadline pass when the payment is stored, until the task waits. */
async function untilWaiting(app: Runtime, id: string, clock: TestClock): Promise<void> {
  const { session } = await app.tasks.get(id);
  const hasPaid = async () =>
    (await app.sessions.open({ id: session })).events.some(({ type }) => type === 'tool_result');
  while (!(await hasPaid())) await new Promise(setImmediate);
  clock.advance(minute);
  while ((await app.tasks.get(id)).state !== 'waiting') await new Promise(setImmediate);
}

async function stoppedAt(number: number, when: 'before' | 'after') {
  const clock = testClock();
  const store = memoryStore({ clock });
  const outside: Outside = { payments: new Set(), isStuck: true };
  const { app: front, job } = processOn(store, clock, outside, 'manual');
  const retry = { action: 'retry', retryAfterMs: minute, attempts: 9 } as const;
  const deadline = { hardMs: minute, ...retry };
  const task = await front.submit(job, 'Pay', { deadline });
  const line = crashingStore(store, number, when);
  const first = processOn(line.store, clock, outside, 'auto').app;
  await Promise.race([line.crashed, untilWaiting(front, task.id, clock)]);
  const wasStopped = line.isGone;
  // The body that is stuck gets a second to stop.
  clock.advance(1_000);
  // A process that has stopped is never answered, and cannot be closed.
  if (!wasStopped) await first.close();
  outside.isStuck = false;
  const second = processOn(store, clock, outside, 'manual').app;
  while ((await front.tasks.get(task.id)).completedAt === undefined) {
    clock.advance(minute);
    await Promise.allSettled(await second.recovery.resumeStopped());
    await new Promise(setImmediate);
  }
  const { events } = await front.sessions.open({ id: task.session });
  const info = await front.tasks.get(task.id);
  const turn = await store.for({ tenant: 'default', app: 'shop' }).turn(task.session);
  await second.close();
  return { events, info, outside, turn, wasStopped };
}

test.each(['before', 'after'] as const)(
  'a task that is retried at its deadline ends once, wherever its worker stops %s an append',
  async (when) => {
    let stops = 0;
    for (let number = 1; ; number++) {
      const { events, info, outside, turn, wasStopped } = await stoppedAt(number, when);
      expect(info).toMatchObject({ state: 'completed', result: 'Done' });
      expect(turn).toBe(undefined);
      expect(outside.payments.size).toBe(1);
      const ends = events.filter(({ type }) => type === 'invocation_end');
      expect(ends).toHaveLength(1);
      const passed = events.filter(
        (event) => event.type === 'decision' && event.decision === 'hard_deadline',
      );
      expect(info.attempts).toBe(passed.length + 1);
      if (!wasStopped) break;
      stops += 1;
    }
    expect(stops).toBeGreaterThanOrEqual(2);
  },
);
