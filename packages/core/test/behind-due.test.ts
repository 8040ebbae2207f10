import { memoryStore, runtime, step, systemClock } from 'adjutant';
import { expect, test } from 'vitest';

test('what an ended run dispatched stays due when a run that came after it ends, too', async () => {
  const gate = Promise.withResolvers<void>();
  let ahead = 0;
  const store = memoryStore({ clock: { ...systemClock, now: () => systemClock.now() + ahead } });
  const child = step({
    name: 'child',
    execute: async (ctx) => {
      await Promise.race([gate.promise, new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))]);
      return ctx.complete('late');
    },
  });
  const parent = step({
    name: 'parent',
    execute: (ctx) => {
      ctx.dispatch(child);
      return ctx.complete('dispatched');
    },
  });
  const second = step({ name: 'second', execute: (ctx) => ctx.complete('done') });
  const app = runtime({ app: 'behind', store, runnables: [parent, child, second], recover: 'manual' });
  const first = app.run(parent, { session: 's', input: 'Begin' });
  await first;
  await app.run(second, { session: 's', input: 'Go' });
  // As if the process had died: its lease ends.
  ahead += 3_600_000;
  expect(await store.admin.due()).toMatchObject([{ session: 's' }]);
  gate.resolve();
  await first.settled();
  ahead += 3_600_000;
  expect(await store.admin.due()).toEqual([]);
  await app.close();
});
