import { expect, test } from 'vitest';
import { betaShare, logGamma } from './special-functions.ts';

test('the gamma and beta functions have their known values', () => {
  expect(Math.exp(logGamma(5))).toBeCloseTo(24, 8);
  expect(Math.exp(logGamma(0.5))).toBeCloseTo(Math.sqrt(Math.PI), 8);
  expect(betaShare(0.5, 2, 3)).toBeCloseTo(0.6875, 10);
  expect(betaShare(0.9, 2, 3)).toBeCloseTo(0.9963, 10);
  expect([betaShare(0, 2, 3), betaShare(1, 2, 3)]).toEqual([0, 1]);
});
