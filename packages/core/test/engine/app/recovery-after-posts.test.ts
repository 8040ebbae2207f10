import { agent, memoryStore, runtime, tool } from 'adjutant';
import { systemClock } from 'adjutant/ports';
import { roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

test('a session whose inbox was of no use is looked at again when something comes', async () => {
  // It stands still: no pause between two looks ever ends.
  const now = systemClock.now();
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: { type: 'object' },
    approval: true,
    execute: () => 'paid',
  });
  const model = roundModel([{ toolCalls: [{ name: 'pay' }] }]);
  const clerk = agent({ name: 'clerk', model, tools: [pay] });
  const app = runtime({
    app: 'shop',
    store: memoryStore(),
    runnables: [clerk],
    ports: { clock: { ...systemClock, now: () => now } },
  });
  await app.run(clerk, { session: 's', lane: 'background', input: 'Go' });
  const ended = (async () => {
    for await (const event of app.follow('s'))
      if (event.type === 'invocation_end') return event.status;
    return undefined;
  })();
  await app.cancel('s', { reason: 'Nothing of the default lane is open.' });
  const inbox = () => app.sessions.open({ id: 's' });
  while ((await (await inbox()).ledger.ports.store.inbox('s')).length > 0)
    await new Promise((resolve) => setImmediate(resolve));
  await app.cancel('s', { reason: 'Enough.', lane: 'background' });
  expect(await ended).toBe('cancelled');
  await app.close();
});
