import { betaShare } from './special-functions.ts';

/**
 * Probabilities that intervals and tests are made of. All are exact to about ten digits, which
 * their tests check against published tables.
 */

/**
 * Chance that a standard normal value is at most `x`, by the series of Marsaglia (Journal of
 * Statistical Software 11(4), 2004).
 */
export function normalBelow(x: number): number {
  if (x < -8) return 0;
  if (x > 8) return 1;
  let term = x;
  let sum = x;
  for (let i = 3; Math.abs(term) > 1e-17 * Math.abs(sum); i += 2) {
    term *= (x * x) / i;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

/**
 * Chance that a value of Student's distribution with `freedom` degrees of freedom is at most `t`.
 */
export function studentBelow(t: number, freedom: number): number {
  const tail = betaShare(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
  return t < 0 ? tail : 1 - tail;
}
