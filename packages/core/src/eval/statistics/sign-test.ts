import { logGamma } from './special-functions.ts';

/**
 * Chance of a split of `better + worse` at least as uneven as this one when both are as likely: the
 * exact two-sided sign test. On cases that either pass or fail it is McNemar's exact test.
 */
export function signTest(better: number, worse: number): number {
  const n = better + worse;
  let share = 0;
  for (let i = 0; i <= Math.min(better, worse); i++) {
    share += Math.exp(logGamma(n + 1) - logGamma(i + 1) - logGamma(n - i + 1) - n * Math.LN2);
  }
  return Math.min(1, 2 * share);
}
