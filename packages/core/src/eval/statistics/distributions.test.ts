import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalBelow, studentBelow } from './distributions.ts';
import { normalQuantile, studentQuantile } from './quantiles.ts';

describe('the normal distribution', () => {
  test.each([
    [0.5, 0],
    [0.975, 1.959963984540054],
    [0.95, 1.6448536269514722],
    [0.995, 2.5758293035489004],
    [0.025, -1.959963984540054],
  ])('has the quantile of %d at %d', (share, z) => {
    expect(normalQuantile(share)).toBeCloseTo(z, 9);
  });

  test('grows, and its quantile is its inverse', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.0001, max: 0.9999, noNaN: true }), (share) => {
        expect(normalBelow(normalQuantile(share))).toBeCloseTo(share, 9);
      }),
    );
    fc.assert(
      fc.property(
        fc.double({ min: -7, max: 7, noNaN: true }),
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        (x, step) => {
          expect(normalBelow(x + step)).toBeGreaterThanOrEqual(normalBelow(x));
        },
      ),
    );
  });
});

describe("Student's distribution", () => {
  // Two-sided 95 % and one-sided values of the usual tables.
  test.each([
    [0.975, 1, 12.706204736],
    [0.975, 2, 4.30265273],
    [0.975, 4, 2.776445105],
    [0.975, 9, 2.262157163],
    [0.975, 29, 2.045229642],
    [0.975, 999, 1.962341461],
    [0.95, 5, 2.015048373],
    [0.995, 10, 3.169272673],
  ])('has the quantile of %d with %d degrees of freedom at %d', (share, freedom, t) => {
    expect(studentQuantile(share, freedom)).toBeCloseTo(t, 6);
  });

  test('is symmetric', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 50, noNaN: true }),
        fc.integer({ min: 1, max: 500 }),
        (t, freedom) => {
          expect(studentBelow(t, freedom) + studentBelow(-t, freedom)).toBeCloseTo(1, 10);
        },
      ),
    );
  });
});
