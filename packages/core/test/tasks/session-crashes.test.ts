import { memoryStore, type Runtime, runtime, type Store, step } from 'adjutant';
import { systemClock } from 'adjutant/ports';
import { crashingStore } from 'adjutant/testing';
import { expect, test } from 'vitest';

const leaseMs = 30_000;

function processOn(store: Store, paid: Set<string>, recover: 'auto' | 'manual'): Runtime {
  const job = step({
    name: 'job',
    execute: async (ctx) => {
      await ctx.effect('pay', () => void paid.add(ctx.message ?? ''), { recovery: 'rerun' });
      await ctx.sleep('pause', 1);
      return ctx.complete(ctx.message ?? '');
    },
  });
  return runtime({
    app: 'shop',
    store,
    runnables: [job],
    recover,
    work: { slots: 1 },
    lease: { ttlMs: leaseMs },
  });
}

async function stoppedAt(number: number, when: 'before' | 'after') {
  let ahead = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  const store = memoryStore({ clock });
  const paid = new Set<string>();
  const front = processOn(store, paid, 'manual');
  const [job] = front.runnables;
  if (job === undefined) throw new Error('There is no job.');
  const tasks = [];
  for (const [priority, name] of [
    ['background', 'one'],
    ['high', 'two'],
  ] as const)
    tasks.push(await front.submit(job, name, { session: 'ann', key: name, priority }));
  const line = crashingStore(store, number, when);
  const first = processOn(line.store, paid, 'auto');
  await Promise.race([line.crashed, Promise.all(tasks.map((task) => task.wait()))]);
  const wasStopped = line.isGone;
  // A process that has stopped is never answered, and cannot be closed.
  if (!wasStopped) await first.close();
  ahead += 2 * leaseMs;
  const second = processOn(store, paid, 'auto');
  const ends = await Promise.all(tasks.map((task) => task.wait()));
  const { events } = await front.sessions.open({ id: 'ann' });
  const ledgers = store.for({ tenant: 'default', app: 'shop' });
  while ((await ledgers.turn('ann')) !== undefined) await new Promise(setImmediate);
  await second.close();
  return { ends, events, tasks, wasStopped };
}

test.each(['before', 'after'] as const)(
  'tasks of a session end once and in their order, wherever a worker stops %s an append',
  async (when) => {
    let stops = 0;
    for (let number = 1; ; number++) {
      const { ends, events, tasks, wasStopped } = await stoppedAt(number, when);
      expect(ends.map(({ output }) => output)).toEqual(['one', 'two']);
      const ended = events.filter(
        ({ type, invocationId }) => type === 'invocation_end' && !invocationId?.includes('/'),
      );
      expect(ended.map(({ invocationId }) => invocationId)).toEqual(tasks.map(({ id }) => id));
      if (!wasStopped) break;
      stops += 1;
    }
    expect(stops).toBeGreaterThanOrEqual(2);
  },
);
