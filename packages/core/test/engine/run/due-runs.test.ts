import { agent, memoryStore, type Runnable, runtime, step, tool } from 'adjutant';
import { systemClock } from 'adjutant/ports';
import { roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { dispatching } from '../../dispatching.ts';

const pay = tool({
  name: 'pay',
  description: 'Pays',
  schema: { type: 'object' },
  approval: true,
  execute: () => 'paid',
});

test.each<[string, Runnable]>([
  ['ends', step({ name: 'second', execute: (ctx) => ctx.complete('done') })],
  [
    'waits',
    agent({ name: 'second', model: roundModel([{ toolCalls: [{ name: 'pay' }] }]), tools: [pay] }),
  ],
])(
  'what an ended run dispatched stays due when a run that came after it %s',
  async (_what, second) => {
    const { gate, child, parent } = dispatching();
    let ahead = 0;
    const store = memoryStore({ clock: { ...systemClock, now: () => systemClock.now() + ahead } });
    const app = runtime({
      app: 'behind',
      store,
      runnables: [parent, child, second],
      recover: 'manual',
    });
    const first = app.run(parent, { session: 's', input: 'Begin' });
    await first;
    await app.run(second, { session: 's', input: 'Go' });
    // As if the process had died: its lease ends, and no request does.
    ahead += 60_000;
    expect(await store.admin.due()).toMatchObject([{ session: 's' }]);
    gate.resolve();
    await first.settled();
    ahead += 60_000;
    expect(await store.admin.due()).toEqual([]);
    await app.close();
  },
);
