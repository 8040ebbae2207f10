import type { Difference, Interval } from '../report.ts';
import {
  type CaseOutcome,
  correlation,
  mean,
  meanInterval,
  rateInterval,
  unboundedScoreInterval,
} from './intervals.ts';
import { signTest } from './sign-test.ts';

/** Values of two variants, the same cases in the same order. */
export interface Pairs<Value> {
  readonly baseline: readonly Value[];
  readonly candidate: readonly Value[];
}

/**
 * Returns the findings of pairing besides the interval: the means, and if better and worse cases
 * are even.
 */
function described(
  { baseline, candidate }: Pairs<number>,
  { value, low, high }: Interval,
): Difference {
  const better = candidate.filter((one, i) => one > (baseline[i] as number)).length;
  const worse = candidate.filter((one, i) => one < (baseline[i] as number)).length;
  const isKnown = baseline.length > 1;
  return {
    baseline: mean(baseline),
    candidate: mean(candidate),
    value,
    low,
    high,
    pValue: signTest(better, worse),
    significant: isKnown && (low > 0 || high < 0),
  };
}

/**
 * The interval of the difference of two paired means from their own intervals and their
 * correlation: Newcombe's square-and-add method (Statistics in Medicine 17, 1998, 2635–2650). With
 * symmetric intervals it is the paired t interval.
 */
function squareAndAdd(pairs: Pairs<number>, baseline: Interval, candidate: Interval): Interval {
  const value = mean(pairs.candidate) - mean(pairs.baseline);
  const together = correlation(pairs.baseline, pairs.candidate);
  const spread = (a: number, b: number): number =>
    Math.sqrt(Math.max(0, a * a - 2 * together * a * b + b * b));
  const low = value - spread(candidate.value - candidate.low, baseline.high - baseline.value);
  const high = value + spread(candidate.high - candidate.value, baseline.value - baseline.low);
  return { value, low: Math.max(-1, low), high: Math.min(1, high) };
}

/** Of pass rates, by case. */
export function rateDifference(
  { baseline, candidate }: Pairs<CaseOutcome>,
  confidence: number,
): Difference {
  const rates = (outcomes: readonly CaseOutcome[]): readonly number[] =>
    outcomes.map(({ passed, trials }) => passed / trials);
  const pairs = { baseline: rates(baseline), candidate: rates(candidate) };
  return described(
    pairs,
    squareAndAdd(pairs, rateInterval(baseline, confidence), rateInterval(candidate, confidence)),
  );
}

/** Of scores from 0 to 1, by case. */
export function scoreDifference(pairs: Pairs<number>, confidence: number): Difference {
  const { baseline, candidate } = pairs;
  return described(
    pairs,
    squareAndAdd(
      pairs,
      unboundedScoreInterval(baseline, confidence),
      unboundedScoreInterval(candidate, confidence),
    ),
  );
}

/** Of anything else that is measured, by case: the paired t interval. */
export function measureDifference(pairs: Pairs<number>, confidence: number): Difference {
  const differences = pairs.candidate.map((value, i) => value - (pairs.baseline[i] as number));
  return described(pairs, meanInterval(differences, confidence));
}
