import type { PassAtK } from '../report.ts';
import { type CaseOutcome, mean } from './intervals.ts';

/**
 * Chance that at least one of `k` trials passes, when `passed` of `trials` did: the unbiased
 * estimator of Chen et al., Evaluating Large Language Models Trained on Code (2021), 1 − C(n−c, k)
 * / C(n, k).
 */
export function passAtK({ passed, trials }: CaseOutcome, k: number): number {
  if (trials - passed < k) return 1;
  let noneOf = 1;
  for (let i = trials - passed + 1; i <= trials; i++) noneOf *= 1 - k / i;
  return 1 - noneOf;
}

/**
 * Chance that all of `k` trials pass (pass^k), when `passed` of `trials` did: C(c, k) / C(n, k), as
 * Yao et al., τ-bench (2024), estimate it.
 */
export function passAllK({ passed, trials }: CaseOutcome, k: number): number {
  let all = 1;
  for (let i = 0; i < k; i++) all *= (passed - i) / (trials - i);
  return Math.max(0, all);
}

/** An estimate for each `k`, as the mean over the cases that have as many trials. */
export function overCases(
  cases: readonly CaseOutcome[],
  ks: readonly number[],
  estimate: (one: CaseOutcome, k: number) => number,
): readonly PassAtK[] {
  return ks.flatMap((k) => {
    const enough = cases.filter(({ trials }) => trials >= k);
    return enough.length === 0 ? [] : [{ k, value: mean(enough.map((one) => estimate(one, k))) }];
  });
}
