import { expect, test } from 'vitest';
import { simulatePrograms } from './simulate-programs.ts';

test('more than half of the ends of four seeds are compared with those without faults', async () => {
  let [compared, programs, comparedUsers] = [0, 0, 0];
  for (const seed of [4, 9, 12, 17]) {
    const found = await simulatePrograms(seed, 10);
    expect(found.outcome.broken).toEqual([]);
    compared += found.compared;
    comparedUsers += found.comparedUsers;
    programs += found.outcome.ends.length;
  }
  expect(compared / programs).toBeGreaterThan(1 / 2);
  expect(comparedUsers).toBeGreaterThan(0);
});
