import { describe, expect, test } from 'vitest';
import { signTest } from './sign-test.ts';

describe('the sign test', () => {
  test.each([
    [0, 0, 1],
    [1, 0, 1],
    [5, 0, 0.0625],
    [6, 0, 0.03125],
    [8, 1, 0.0390625],
    [10, 2, 0.03857421875],
    [7, 7, 1],
  ])('of %d better and %d worse is %d', (better, worse, p) => {
    expect(signTest(better, worse)).toBeCloseTo(p, 9);
    expect(signTest(worse, better)).toBeCloseTo(p, 9);
  });

  test('stays a probability with thousands of cases', () => {
    expect(signTest(2_600, 2_400)).toBeGreaterThan(0.004);
    expect(signTest(2_600, 2_400)).toBeLessThan(0.006);
    expect(signTest(5_000, 0)).toBe(0);
  });
});
