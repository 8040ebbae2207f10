import {
  burstOfArrivals,
  poissonArrivals,
  type SimulatedTask,
  simulateQueue,
} from 'adjutant/scheduler';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const hour = 3_600_000;

test('a flood of one tenant takes no share of the others', async () => {
  const flood = burstOfArrivals({ at: 0, roundMs: 10_000, tenant: 'flood' }, { count: 2_000 });
  const others = ['one', 'two'].flatMap((tenant) =>
    burstOfArrivals({ at: 0, roundMs: 10_000, tenant }, { count: 400 }),
  );
  const { shares } = await simulateQueue({ slots: 4 }, [...flood, ...others], {
    untilMs: hour / 2,
  });
  for (const tenant of ['flood', 'one', 'two'])
    expect(Math.abs((shares[tenant] ?? 0) - 1 / 3)).toBeLessThan(0.05 / 3);
});

test('shares follow the weights within 5 %, also with tasks of several rounds', async () => {
  const weights = { tenants: { small: 1, middle: 2, large: 5 } };
  const load = Object.keys(weights.tenants).flatMap((tenant, i) =>
    burstOfArrivals({ at: 0, roundMs: 5_000 + 3_000 * i, rounds: 3, tenant }, { count: 600 }),
  );
  const { shares } = await simulateQueue({ slots: 3, weights }, load, { untilMs: 2 * hour });
  for (const [tenant, weight] of Object.entries(weights.tenants))
    expect(Math.abs((shares[tenant] ?? 0) - weight / 8) / (weight / 8)).toBeLessThan(0.05);
});

test('a realtime task waits at most for the end of one round', async () => {
  const roundMs = 7_000;
  const busy = burstOfArrivals({ at: 0, roundMs, rounds: 10, priority: 'high' }, { count: 50 });
  const realtime = Array.from({ length: 40 }, (_, i) => ({
    at: 1_000 + i * 13_337,
    roundMs: 500,
    priority: 'realtime' as const,
  }));
  const without = await simulateQueue({ slots: 2, reserve: { realtime: 0 } }, [
    ...busy,
    ...realtime,
  ]);
  expect(without.waits.realtime?.maxMs).toBeLessThanOrEqual(roundMs);
  const reserved = await simulateQueue({ slots: 2 }, [...busy, ...realtime]);
  expect(reserved.waits.realtime?.maxMs).toBe(0);
});

test('waits are ordered by priority, and nothing starves', async () => {
  const untilMs = 4 * hour;
  const load = (['high', 'normal', 'low', 'background'] as const).flatMap((priority, i) =>
    poissonArrivals({ perHour: 100, untilMs, roundMs: 32_000, priority, seed: i + 1 }),
  );
  const { ended, left, waits } = await simulateQueue({ slots: 4 }, load);
  expect([ended, left]).toEqual([load.length, 0]);
  const { background, high, low, normal } = waits;
  const medians = [high, normal, low, background].map((wait) => wait?.p50Ms ?? 0);
  expect(medians).toEqual([...medians].sort((left, right) => left - right));
});

test('a full queue refuses tasks, and the others end', async () => {
  const burst = burstOfArrivals({ at: 0, roundMs: 1_000, priority: 'low' }, { count: 10 });
  const report = await simulateQueue({ profile: 'assistant' }, burst);
  expect(report).toMatchObject({ refused: 7, ended: 3, left: 0 });
});

const arbitraryTask: fc.Arbitrary<SimulatedTask> = fc.record(
  {
    at: fc.nat({ max: 600_000 }),
    roundMs: fc.integer({ min: 1, max: 60_000 }),
    rounds: fc.integer({ min: 1, max: 4 }),
    priority: fc.constantFrom('realtime', 'high', 'normal', 'low', 'background'),
    tenant: fc.constantFrom('a', 'b', 'c'),
    requester: fc.constantFrom('ann', 'bob'),
    concurrencyKey: fc.constantFrom('k', 'l'),
  },
  { requiredKeys: ['at', 'roundMs'] },
);

test('every task begins and ends once, whatever comes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryTask, { maxLength: 40 }),
      fc.integer({ min: 1, max: 4 }),
      async (load, slots) => {
        const report = await simulateQueue({ slots }, load);
        const begun = Object.values(report.waits).reduce((sum, { count }) => sum + count, 0);
        expect([report.ended, report.left, begun]).toEqual([load.length, 0, load.length]);
        // The longest wait is no longer than all work together, one after the other.
        const work = load.reduce((sum, { rounds = 1, roundMs }) => sum + rounds * roundMs, 0);
        for (const { maxMs } of Object.values(report.waits))
          expect(maxMs).toBeLessThanOrEqual(work);
      },
    ),
    { numRuns: 60 },
  );
});

test.each<[string, object, unknown]>([
  ['no places', { slots: 0 }, []],
  ['an unknown option', { places: 1 }, []],
  ['a task without a duration', {}, [{ at: 0 }]],
  ['a task before the start', {}, [{ at: -1, roundMs: 1 }]],
])('a simulation with %s is refused', async (_what, queue, load) => {
  await expect(simulateQueue(queue, load as SimulatedTask[])).rejects.toMatchObject({
    code: 'invalid_option',
  });
});
