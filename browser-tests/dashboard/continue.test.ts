import { runtime, sequence, step } from 'adjutant';
import { expect, test } from 'vitest';
import { opened, withChromium } from './opened.ts';
import { testStore } from './places.ts';

withChromium();

test('a paused session says so, and goes on by one press', async () => {
  const held = Promise.withResolvers<void>();
  const first = step({ name: 'first', effects: false, execute: () => held.promise });
  const second = step({
    name: 'second',
    effects: false,
    execute: (ctx) => {
      ctx.state.done = true;
    },
  });
  const both = sequence({ name: 'both', runnables: [first, second] });
  const app = runtime({ app: 'office', store: await testStore(), runnables: [both] });
  const run = app.run(both, { session: 's', input: 'Work.' });
  const { page } = await opened(app, { path: '/sessions/s' });
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused at the next step.').waitFor();
  held.resolve();
  await run;
  await page.getByText('Paused', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Completed', { exact: true }).first().waitFor();
  expect(await app.sessions.stateAt('s')).toMatchObject({ sessionState: { done: true } });
});
