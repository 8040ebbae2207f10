import { expect, test } from 'vitest';
import { checkedSeed } from '../../../src/testing/simulation/checked-seed.ts';
import { usualRates } from '../../../src/testing/simulation/faults.ts';
import { simulateSeed } from '../../../src/testing/simulation/simulate-seed.ts';
import { clerkApp, oneRun } from './small-app.ts';

test('seed_twice_same_trace: port calls and ledgers of a seed are the same again', async () => {
  const traces = new Set<string>();
  for (const seed of [1, 2, 3, 4, 5]) {
    const options = { ...oneRun(usualRates), seed, machines: 3 };
    const first = await simulateSeed(options);
    const second = await simulateSeed({ ...options, keepsStory: true });
    expect(second.trace).toBe(first.trace);
    expect(second.ledgers).toEqual(first.ledgers);
    traces.add(first.trace);
  }
  expect(traces.size).toBe(5);
});

test('seed_twice_same_trace: an app that keeps a counter in its module is found', async () => {
  let count = 0;
  const { outcome } = await checkedSeed(oneRun({}, () => clerkApp(() => `paid ${++count}`)));
  expect(outcome.broken[0]?.rule).toBe('same_seed');
});
