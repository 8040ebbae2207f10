import { defined } from '../base/defined.ts';
import type { JsonValue } from '../base/json.ts';
import type { Usage } from '../ledger/event.ts';
import type { EvalCase } from './dataset/eval-case.ts';
import type {
  CaseReport,
  Comparison,
  Difference,
  ScoreSummary,
  TrialReport,
  VariantReport,
  VariantSummary,
} from './report.ts';
import {
  measureDifference,
  type Pairs,
  rateDifference,
  scoreDifference,
} from './statistics/differences.ts';
import {
  type CaseOutcome,
  mean,
  quantile,
  rateInterval,
  scoreInterval,
} from './statistics/intervals.ts';
import { overCases, passAllK, passAtK } from './statistics/pass-at-k.ts';

export interface SummaryOptions {
  readonly confidence: number;
  readonly passK: readonly number[];
}

export function caseReport(evalCase: EvalCase, trials: readonly TrialReport[]): CaseReport {
  const { id, description, tags } = evalCase;
  const expect = expectationsOf(evalCase);
  const sorted = trials.toSorted((a, b) => a.trial - b.trial);
  const { passed } = outcomeOf(sorted);
  const passRate = sorted.length === 0 ? 0 : passed / sorted.length;
  return {
    id,
    ...defined({ description }),
    tags,
    ...defined({ expect }),
    trials: sorted,
    passRate,
  };
}

/** Expectations of a case, and of its turns beside their messages, as JSON. */
function expectationsOf({ expect, turns }: EvalCase): JsonValue | undefined {
  const ofTurns = turns.filter((turn) => Object.keys(turn.expect ?? {}).length > 0);
  const own = Object.keys(expect).length === 0 && ofTurns.length === 0 ? undefined : expect;
  if (own === undefined) return undefined;
  return written(ofTurns.length === 0 ? own : { ...own, turns: ofTurns });
}

/** A pattern as files write it. */
function written(value: unknown): JsonValue {
  if (value instanceof RegExp)
    return { $regex: value.source, ...(value.flags === '' ? {} : { $flags: value.flags }) };
  if (Array.isArray(value)) return value.map(written);
  if (typeof value !== 'object' || value === null) return value as JsonValue;
  const members = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(members.map(([name, one]) => [name, written(one)]));
}

function outcomeOf(trials: readonly TrialReport[]): CaseOutcome {
  return { passed: trials.filter(({ passed }) => passed).length, trials: trials.length };
}

/** Names of a variant: its own, and those of what it measures. */
export type VariantNames = Omit<VariantReport, 'summary' | 'cases'>;

export function variantReport(
  names: VariantNames,
  cases: readonly CaseReport[],
  options: SummaryOptions,
): VariantReport {
  return { ...names, summary: summaryOf(cases, options), cases };
}

function summaryOf(
  cases: readonly CaseReport[],
  { confidence, passK }: SummaryOptions,
): VariantSummary {
  const run = cases.filter(({ trials }) => trials.length > 0);
  const trials = run.flatMap((one) => one.trials);
  const outcomes = run.map((one) => outcomeOf(one.trials));
  const durations = trials.map(({ durationMs }) => durationMs);
  const costs = trials.flatMap(({ cost }) => cost ?? []);
  const total = costs.reduce((sum, cost) => sum + cost, 0);
  return {
    cases: run.length,
    trials: trials.length,
    passed: trials.filter(({ passed }) => passed).length,
    passRate: rateInterval(outcomes, confidence),
    passAtK: overCases(outcomes, passK, passAtK),
    passAllK: overCases(outcomes, passK, passAllK),
    scores: Object.fromEntries(
      scorersOf(run).map((scorer) => [scorer, scoreSummary(run, scorer, confidence)]),
    ),
    durationMs: {
      mean: mean(durations),
      p50: quantile(durations, 0.5),
      p95: quantile(durations, 0.95),
    },
    ...(costs.length === 0 ? {} : { cost: { total, mean: total / costs.length } }),
    usage: usageOf(trials),
    steps: { mean: mean(trials.map(({ steps }) => steps)) },
  };
}

function usageOf(trials: readonly TrialReport[]): Usage {
  const sum = (key: keyof Usage): number =>
    trials.reduce((total, { usage }) => total + (usage[key] ?? 0), 0);
  const optional = (['cachedInputTokens', 'reasoningTokens'] as const).flatMap((key) =>
    sum(key) > 0 ? [[key, sum(key)] as const] : [],
  );
  return {
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    ...Object.fromEntries(optional),
  };
}

function scorersOf(cases: readonly CaseReport[]): readonly string[] {
  return [
    ...new Set(
      cases.flatMap(({ trials }) =>
        trials.flatMap(({ scores }) => scores.map(({ scorer }) => scorer)),
      ),
    ),
  ];
}

function scoresOf(
  { trials }: CaseReport,
  scorer: string,
): readonly { readonly score: number; readonly passed: boolean }[] {
  return trials.flatMap(({ scores }) => scores.filter((score) => score.scorer === scorer));
}

function scoreSummary(
  cases: readonly CaseReport[],
  scorer: string,
  confidence: number,
): ScoreSummary {
  const byCase = cases.map((one) => scoresOf(one, scorer)).filter((scores) => scores.length > 0);
  const { value, low, high } = scoreInterval(byCase.map(meanScore), confidence);
  const all = byCase.flat();
  return {
    mean: value,
    low,
    high,
    trials: all.length,
    passed: all.filter(({ passed }) => passed).length,
  };
}

function meanScore(scores: readonly { readonly score: number }[]): number {
  return mean(scores.map(({ score }) => score));
}

/** One variant against another, on the cases that both have trials of. */
export function compareVariants(
  baseline: VariantReport,
  candidate: VariantReport,
  confidence: number,
): Comparison {
  const others = new Map(candidate.cases.map((one) => [one.id, one]));
  const both = baseline.cases.flatMap((one) => {
    const other = others.get(one.id);
    return other === undefined || one.trials.length === 0 || other.trials.length === 0
      ? []
      : [[one, other] as const];
  });
  const pairs = <Value>(of: (one: CaseReport) => Value): Pairs<Value> => ({
    baseline: both.map(([one]) => of(one)),
    candidate: both.map(([, other]) => of(other)),
  });
  const measure = (of: (trial: TrialReport) => number): Difference =>
    measureDifference(
      pairs(({ trials }) => mean(trials.map(of))),
      confidence,
    );
  const scorers = scorersOf(both.flat()).filter((scorer) =>
    both.some((pair) => pair.every((one) => scoresOf(one, scorer).length > 0)),
  );
  const isPriced =
    both.length > 0 &&
    both.flat().every(({ trials }) => trials.every(({ cost }) => cost !== undefined));
  return {
    baseline: baseline.name,
    candidate: candidate.name,
    cases: both.length,
    passRate: rateDifference(
      pairs((one) => outcomeOf(one.trials)),
      confidence,
    ),
    scores: Object.fromEntries(
      scorers.map((scorer) => [scorer, scoreChange(both, scorer, confidence)]),
    ),
    measures: {
      durationMs: measure(({ durationMs }) => durationMs),
      steps: measure(({ steps }) => steps),
      tokens: measure(({ usage }) => usage.inputTokens + usage.outputTokens),
      ...(isPriced ? { cost: measure(({ cost }) => cost ?? 0) } : {}),
    },
    improved: both.filter(([one, other]) => other.passRate > one.passRate).map(([{ id }]) => id),
    regressed: both.filter(([one, other]) => other.passRate < one.passRate).map(([{ id }]) => id),
  };
}

/** On the cases that the scorer judged with both variants. */
function scoreChange(
  both: readonly (readonly [CaseReport, CaseReport])[],
  scorer: string,
  confidence: number,
): Difference {
  const judged = both
    .map((pair) => pair.map((one) => scoresOf(one, scorer)))
    .filter((pair) => pair.every((scores) => scores.length > 0));
  const side = (index: number): readonly number[] =>
    judged.map((pair) => meanScore(pair[index] ?? []));
  return scoreDifference({ baseline: side(0), candidate: side(1) }, confidence);
}

/** Methods behind the numbers of a report. */
export const methods =
  "Pass rates: Wilson's score interval with the effective number of trials by Kish's " +
  "design effect, cases being clusters. Scores: Student's interval of the mean over cases " +
  "(Wilson's where all are 0 or 1). Differences: paired by case, Newcombe's square-and-add " +
  'interval; other measures the paired t interval; p-values by the exact two-sided sign ' +
  "test (McNemar's exact test with one trial). pass@k by the unbiased estimator of Chen et " +
  'al. (2021), pass^k as in τ-bench (2024).';
