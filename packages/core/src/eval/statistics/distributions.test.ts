import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  betaShare,
  logGamma,
  normalBelow,
  normalQuantile,
  signTest,
  studentBelow,
  studentQuantile,
} from './distributions.ts';

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

test('the gamma and beta functions have their known values', () => {
  expect(Math.exp(logGamma(5))).toBeCloseTo(24, 8);
  expect(Math.exp(logGamma(0.5))).toBeCloseTo(Math.sqrt(Math.PI), 8);
  expect(betaShare(0.5, 2, 3)).toBeCloseTo(0.6875, 10);
  expect(betaShare(0.9, 2, 3)).toBeCloseTo(0.9963, 10);
  expect([betaShare(0, 2, 3), betaShare(1, 2, 3)]).toEqual([0, 1]);
});

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
