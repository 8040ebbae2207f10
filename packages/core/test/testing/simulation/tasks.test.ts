import { expect, test } from 'vitest';
import { step } from '../../../src/index.ts';
import type { SimulatedApp } from '../../../src/testing/simulation/machine-room.ts';
import { type SimulateOptions, simulate } from '../../../src/testing/simulation/simulate.ts';
import type { SimulatedProgram } from '../../../src/testing/simulation/simulated-program.ts';
import { clerkApp } from './small-app.ts';

/** The clerk, and a step that does one thing after the other; one place on each machine. */
function office(): SimulatedApp {
  const report = step({
    name: 'report',
    execute: async (ctx) => {
      for (const part of ['one', 'two', 'three']) await ctx.effect(part, () => `part ${part}`);
      await ctx.sleep('pause', 60_000);
      return ctx.complete('reported');
    },
  });
  const { runnables = [], ...app } = clerkApp();
  return { ...app, runnables: [...runnables, report], work: { slots: 1 } };
}

const priorities = ['high', 'normal', 'low', 'background'] as const;
const tasks = [0, 1, 2, 3, 4, 5].map(
  (place): SimulatedProgram => ({
    run: place % 2 === 0 ? 'clerk' : 'report',
    input: `Task ${place}`,
    task: {
      priority: priorities[place % 4] ?? 'normal',
      ...(place < 4 ? { concurrencyKey: 'desk' } : {}),
    },
  }),
);

test('tasks end once, with or without faults, and leave no turn behind', async () => {
  const report = await simulate(office, { programs: tasks, hours: 6, hoursPerSeed: 1 });
  expect(report.failures).toEqual([]);
  expect(report.seeds).toBe(6);
  expect(report.compared).toBeGreaterThan(6);
});

test.each<[string, object, string]>([
  ['no input', { run: 'clerk', task: {} }, '`input` or `data`'],
  ['a wrong priority', { run: 'clerk', input: 'x', task: { priority: 'now' } }, 'priority'],
  ['a lane beside it', { run: 'clerk', input: 'x', user: 'ann', task: {} }, '`user`'],
])('a task with %s is refused', async (_what, program, message) => {
  const options = { programs: [program], hours: 1 } as SimulateOptions;
  await expect(simulate(office, options)).rejects.toThrow(message);
});
