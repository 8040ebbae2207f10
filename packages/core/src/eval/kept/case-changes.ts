import { defined } from '../../base/defined.ts';
import type { JsonValue } from '../../base/json.ts';
import type { CaseReport, Comparison, VariantReport } from '../report.ts';
import { mean } from '../statistics/intervals.ts';
import { compareVariants } from '../summary.ts';

/**
 * Change of a case from the baseline to the candidate: by its pass rate, and where that is the
 * same, by the mean of the scores that both have.
 */
export type CaseChangeKind = 'worse' | 'only_baseline' | 'only_candidate' | 'better' | 'same';

/** The kinds in the order in which cases are listed: what needs a look comes first. */
const caseChangeKinds: readonly CaseChangeKind[] = [
  'worse',
  'only_baseline',
  'only_candidate',
  'better',
  'same',
];

/** A case with one variant: means over its trials. */
export interface CaseSide {
  readonly trials: number;
  readonly passed: number;
  readonly passRate: number;
  /** By name of the scorer. */
  readonly scores: Readonly<Record<string, number>>;
  readonly durationMs: number;
  readonly steps: number;
  /** US dollars; missing when no price is known. */
  readonly cost?: number;
  /** Last answer of the first trial that failed, else of the first trial. */
  readonly output?: string;
  /** Finding of the first scorer that the same trial failed. */
  readonly finding?: string;
  /** Session of the same trial. */
  readonly session?: string;
}

export interface CaseChange {
  readonly id: string;
  readonly change: CaseChangeKind;
  readonly description?: string;
  /** First message of the user. */
  readonly input?: string;
  readonly expect?: JsonValue;
  /** The outputs of both are not the same text. */
  readonly outputDiffers: boolean;
  readonly baseline?: CaseSide;
  readonly candidate?: CaseSide;
}

export interface ComparedCases {
  readonly comparison: Comparison;
  /** Number of cases of each kind. */
  readonly counts: Readonly<Record<CaseChangeKind, number>>;
  /** All cases of both: worse ones first, in each kind those that changed most. */
  readonly cases: readonly CaseChange[];
}

/** Compares two variants, of one report or of two, case by case. */
export function compareCases(
  baseline: VariantReport,
  candidate: VariantReport,
  confidence: number,
): ComparedCases {
  const [before, after] = [byId(baseline), byId(candidate)];
  const cases = [...new Set([...before.keys(), ...after.keys()])]
    .map((id) => changeOf(id, before.get(id), after.get(id)))
    .sort(byWeight);
  const counts = Object.fromEntries(
    caseChangeKinds.map((kind) => [kind, cases.filter(({ change }) => change === kind).length]),
  ) as ComparedCases['counts'];
  return { comparison: compareVariants(baseline, candidate, confidence), counts, cases };
}

function byId({ cases }: VariantReport): ReadonlyMap<string, CaseReport> {
  return new Map(cases.filter(({ trials }) => trials.length > 0).map((one) => [one.id, one]));
}

function changeOf(id: string, before?: CaseReport, after?: CaseReport): CaseChange {
  const [baseline, candidate] = [before && sideOf(before), after && sideOf(after)];
  const known = after ?? before;
  return {
    id,
    change: kindOf(baseline, candidate),
    outputDiffers: baseline?.output !== candidate?.output,
    ...defined({
      description: known?.description,
      input: known?.trials[0]?.turns[0]?.user,
      expect: known?.expect,
      baseline,
      candidate,
    }),
  };
}

function sideOf({ trials }: CaseReport): CaseSide {
  const passed = trials.filter((trial) => trial.passed).length;
  const shown = trials.find((trial) => !trial.passed) ?? trials[0];
  const costs = trials.flatMap(({ cost }) => cost ?? []);
  const names = [...new Set(trials.flatMap(({ scores }) => scores.map(({ scorer }) => scorer)))];
  const scoresOf = (name: string): readonly number[] =>
    trials.flatMap(({ scores }) =>
      scores.filter(({ scorer }) => scorer === name).map(({ score }) => score),
    );
  return {
    trials: trials.length,
    passed,
    passRate: passed / trials.length,
    scores: Object.fromEntries(names.map((name) => [name, mean(scoresOf(name))])),
    durationMs: mean(trials.map(({ durationMs }) => durationMs)),
    steps: mean(trials.map(({ steps }) => steps)),
    ...defined({
      cost: costs.length === 0 ? undefined : mean(costs),
      output: shown?.turns.at(-1)?.assistant,
      finding: shown?.scores.find((score) => !score.passed)?.explanation ?? shown?.error?.message,
      session: shown?.session,
    }),
  };
}

/** Smallest difference of scores that is one: sums in another order may differ by less. */
const leastDifference = 1e-9;

function kindOf(baseline?: CaseSide, candidate?: CaseSide): CaseChangeKind {
  if (candidate === undefined) return 'only_baseline';
  if (baseline === undefined) return 'only_candidate';
  const difference = differenceOf(baseline, candidate);
  if (Math.abs(difference) < leastDifference) return 'same';
  return difference < 0 ? 'worse' : 'better';
}

function differenceOf(baseline: CaseSide, candidate: CaseSide): number {
  if (baseline.passRate !== candidate.passRate) return candidate.passRate - baseline.passRate;
  const both = Object.entries(baseline.scores).flatMap(([name, score]) => {
    const other = Object.hasOwn(candidate.scores, name) ? candidate.scores[name] : undefined;
    return other === undefined ? [] : [other - score];
  });
  return both.length === 0 ? 0 : mean(both);
}

function byWeight(one: CaseChange, other: CaseChange): number {
  const rank = ({ change }: CaseChange): number => caseChangeKinds.indexOf(change);
  return rank(one) - rank(other) || weightOf(other) - weightOf(one) || (one.id < other.id ? -1 : 1);
}

function weightOf({ baseline, candidate }: CaseChange): number {
  if (baseline === undefined || candidate === undefined) return 0;
  return Math.abs(differenceOf(baseline, candidate));
}
