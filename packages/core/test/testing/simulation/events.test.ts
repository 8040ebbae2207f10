import { expect, test } from 'vitest';
import { step } from '../../../src/index.ts';
import type { SimulatedApp } from '../../../src/testing/simulation/machine-room.ts';
import { type SimulateOptions, simulate } from '../../../src/testing/simulation/simulate.ts';
import type { SeedOutcome } from '../../../src/testing/simulation/simulate-seed.ts';
import type { SimulatedProgram } from '../../../src/testing/simulation/simulated-program.ts';
import { action, event, trigger, triggers } from '../../../src/triggers/index.ts';

/** Steps that publish, and triggers that begin work of them. */
function garden(): SimulatedApp {
  const gauge = step({
    name: 'gauge',
    execute: async (ctx) => {
      for (const level of [1, 2, 3]) {
        await ctx.effect(`read ${level}`, () => level);
        await ctx.publish({ type: 'rain.measured', data: { level } });
      }
      return ctx.complete('measured');
    },
  });
  const note = action({ name: 'note', execute: ({ about }) => about ?? null });
  const on = event('rain.*');
  return {
    app: 'garden',
    runnables: [gauge, note],
    triggers: triggers([
      trigger({ name: 'all', on, start: note, overlap: 'queue' }),
      trigger({ name: 'some', on, start: note }),
    ]),
  };
}

const programs = [0, 1, 2].map((): SimulatedProgram => ({ run: 'gauge' }));

test('published events are delivered once, in order, and begin their tasks once', async () => {
  const events = [{ type: 'rain.ended', data: 'dry', times: 4 }, { type: 'sun.risen' }];
  const decisions = new Map<string, number>();
  const onSeed = ({ ledgers }: SeedOutcome): void => {
    for (const event of ledgers.flat()) {
      if (event.type !== 'decision') continue;
      const name = `${event.component} ${event.decision}`;
      decisions.set(name, (decisions.get(name) ?? 0) + 1);
    }
  };
  const report = await simulate(garden, { programs, events, hours: 4, hoursPerSeed: 1, onSeed });
  expect(report.failures).toEqual([]);
  expect(report.seeds).toBe(4);
  expect(report.compared).toBeGreaterThan(4);
  // Five of people in each seed, and those of runs that came so far.
  expect(decisions.get('bus fan_out')).toBeGreaterThan(4 * 5);
  for (const name of ['trigger fire', 'trigger queue', 'trigger skip', 'trigger end'])
    expect(decisions.get(name), name).toBeGreaterThan(4);
});

test.each<[string, unknown, string]>([
  ['that are no list', { type: 'rain.ended' }, 'a list of events'],
  ['that are no events', ['rain.ended'], 'events[0]'],
  ['without a type', [{ data: 1 }], "such as 'mail.received'"],
  ['of a pattern', [{ type: 'rain.*' }], "such as 'mail.received'"],
  ['whose data are no JSON', [{ type: 'rain.ended', data: () => 1 }], 'must be JSON'],
  ['too many', [{ type: 'rain.ended', times: 1_001 }], 'at most 1000'],
  ['with an unknown option', [{ type: 'rain.ended', id: 'x' }], 'events[0]'],
])('events %s are refused', async (_what, events, message) => {
  const options = { programs, events, hours: 1 } as SimulateOptions;
  await expect(simulate(garden, options)).rejects.toThrow(message);
});
