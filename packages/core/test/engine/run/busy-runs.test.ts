import { loop, type Runnable, run, step } from 'adjutant';
import { expect, test } from 'vitest';

/** Runs that go on for ever without waiting for anything outside. */
const busy: readonly (readonly [name: string, make: () => Runnable])[] = [
  [
    'a loop over a step',
    () =>
      loop({
        name: 'busy',
        runnable: step({ name: 'nothing', execute: () => undefined }),
        maxIterations: 1e9,
      }),
  ],
  [
    'a step that calls',
    () =>
      step({
        name: 'busy',
        execute: async (ctx) => {
          for (let i = 0; !ctx.signal.aborted; i++)
            await ctx.call(step({ name: 'nothing', execute: () => undefined }), {
              key: `call ${i}`,
            });
        },
      }),
  ],
  [
    'a step with effects',
    () =>
      step({
        name: 'busy',
        execute: async (ctx) => {
          for (let i = 0; !ctx.signal.aborted; i++)
            await ctx.effect(`effect ${i}`, () => i, { recovery: 'rerun' });
        },
      }),
  ],
];

test.each(busy)('%s leaves others their turn, and can be cancelled', async (_name, make) => {
  const running = run(make(), 'Go');
  // A turn of the event loop comes: without one this would never go on.
  for (let turn = 0; turn < 10; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  running.cancel('enough');
  expect((await running).status).toBe('cancelled');
});
