import { run, step } from 'adjutant';
import { expect, test } from 'vitest';

test('a hand-over with a message records it as the reason, one without has none', async () => {
  const target = step({ name: 'target', execute: (ctx) => ctx.complete('ok') });
  const events = async (message?: string) => {
    const { session } = await run(
      step({ name: 'desk', execute: (ctx) => ctx.transfer(target, message) }),
    );
    return session.events.filter((event) => event.type === 'handoff');
  };
  expect(await events('They want a refund')).toMatchObject([
    { from: 'desk', to: 'target', reason: 'They want a refund' },
  ]);
  expect((await events())[0]).not.toHaveProperty('reason');
});
