import { expect, test } from 'vitest';
import { usualRates } from '../../src/testing/simulation/faults.ts';
import { simulateSeed } from '../../src/testing/simulation/simulate-seed.ts';
import { appOf, programsOf, runsOf } from './seed-programs.ts';

test('a seed goes the same way in a process that has simulated nothing before', async () => {
  const seed = 288;
  const { drawn, machines } = programsOf(seed);
  const simulate = () =>
    simulateSeed({
      seed,
      hours: 10,
      machines,
      rates: usualRates,
      programs: runsOf(seed, drawn),
      makeApp: appOf(seed, drawn),
    });
  const first = await simulate();
  const second = await simulate();
  expect(second.ledgers).toEqual(first.ledgers);
  expect(second.trace).toBe(first.trace);
});
