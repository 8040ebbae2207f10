import type { Interval } from '../report.ts';
import { normalQuantile, studentQuantile } from './quantiles.ts';

/** Trials of one case, and how many of them passed. */
export interface CaseOutcome {
  readonly passed: number;
  readonly trials: number;
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Sum of the squared distances to the mean. */
function scatter(values: readonly number[]): number {
  const middle = mean(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
}

/**
 * Wilson's score interval (JASA 22, 1927) of a share that was found in `n` independent trials; `n`
 * need not be whole.
 */
export function wilson(share: number, n: number, confidence: number): Interval {
  if (n <= 0) return { value: share, low: 0, high: 1 };
  const z = normalQuantile((1 + confidence) / 2);
  const spread =
    (z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
  const middle = (share + (z * z) / (2 * n)) / (1 + (z * z) / n);
  // The error of rounding must not take the value itself out of its interval.
  return {
    value: share,
    low: Math.max(0, Math.min(share, middle - spread)),
    high: Math.min(1, Math.max(share, middle + spread)),
  };
}

/**
 * The share of trials that pass, with its interval. Trials of one case are alike, so that ten
 * trials of one case say less than one trial of ten cases: Wilson's interval is taken with the
 * effective number of trials that the scatter between cases leaves (Kish's design effect, as Dean
 * and Pagano, J. Surv. Stat. Methodol. 3, 2015, recommend). With one trial each it is Wilson's
 * interval as it stands.
 */
export function rateInterval(cases: readonly CaseOutcome[], confidence: number): Interval {
  const trials = cases.reduce((sum, one) => sum + one.trials, 0);
  if (trials === 0) return { value: 0, low: 0, high: 1 };
  const share = cases.reduce((sum, one) => sum + one.passed, 0) / trials;
  const variance =
    cases.reduce((sum, one) => sum + (one.passed - share * one.trials) ** 2, 0) / trials ** 2;
  const measured = cases.filter((one) => one.trials > 0).length;
  // Where all trials went alike, how much the trials of a case differ has not been seen: cases
  // alone count.
  const effective =
    share === 0 || share === 1 ? measured : Math.min(trials, (share * (1 - share)) / variance);
  return wilson(share, effective, confidence);
}

/**
 * The mean of values of which nothing is known, with Student's interval. One value has no interval:
 * `low` and `high` are the value.
 */
export function meanInterval(values: readonly number[], confidence: number): Interval {
  const value = mean(values);
  if (values.length < 2) return { value, low: value, high: value };
  const error = Math.sqrt(scatter(values) / (values.length - 1) / values.length);
  const spread = error === 0 ? 0 : studentQuantile((1 + confidence) / 2, values.length - 1) * error;
  return { value, low: value - spread, high: value + spread };
}

/**
 * The mean of scores from 0 to 1, one for each case, with Student's interval. Where all are 0 or
 * all are 1 it would have no width, and Wilson's is taken: three cases out of three are no
 * certainty.
 */
export function scoreInterval(scores: readonly number[], confidence: number): Interval {
  const { value, low, high } = unboundedScoreInterval(scores, confidence);
  return { value, low: Math.max(0, low), high: Math.min(1, high) };
}

/** As `scoreInterval`, not cut at 0 and 1: for differences. */
export function unboundedScoreInterval(scores: readonly number[], confidence: number): Interval {
  if (scores.length === 0) return { value: 0, low: 0, high: 1 };
  const value = mean(scores);
  if (scores.every((score) => score === 0) || scores.every((score) => score === 1))
    return wilson(value, scores.length, confidence);
  if (scores.length === 1) return { value, low: 0, high: 1 };
  return meanInterval(scores, confidence);
}

/** The value below which the share `share` of the values lies, interpolated. 0 without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return 0;
  const place = share * (sorted.length - 1);
  const before = sorted[Math.floor(place)] as number;
  const after = sorted[Math.ceil(place)] as number;
  return before + (after - before) * (place - Math.floor(place));
}

/** Pearson's correlation; 0 where one side does not vary. */
export function correlation(a: readonly number[], b: readonly number[]): number {
  const spread = Math.sqrt(scatter(a) * scatter(b));
  if (spread === 0) return 0;
  const [middleA, middleB] = [mean(a), mean(b)];
  const together = a.reduce(
    (sum, value, i) => sum + (value - middleA) * ((b[i] as number) - middleB),
    0,
  );
  return Math.max(-1, Math.min(1, together / spread));
}
