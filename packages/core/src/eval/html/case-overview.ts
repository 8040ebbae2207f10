import { defined } from '../../base/defined.ts';
import type { CaseReport, EvalReport, TrialReport } from '../report.ts';

/** The outcome of the trials of a case with one variant. `none`: it has no trials there. */
export type Outcome = 'passed' | 'flaky' | 'failed' | 'none';

/** Comparison of a case with the same case of the first variant. */
export type Change = 'improved' | 'regressed' | 'same';

export interface VariantOfCase {
  readonly report: CaseReport | undefined;
  readonly outcome: Outcome;
  readonly change: Change;
  readonly passed: number;
  readonly trials: number;
}

/** One case over all variants. */
export interface CaseOverview {
  /** Place in the dataset, from 0; also what the page calls it by. */
  readonly index: number;
  readonly id: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** In the order of the report's variants. */
  readonly variants: readonly VariantOfCase[];
  readonly hasError: boolean;
}

/** The cases of all variants, each once, in the order in which they first come. */
export function caseOverviews(report: EvalReport): readonly CaseOverview[] {
  const byVariant = report.variants.map(({ cases }) => new Map(cases.map((one) => [one.id, one])));
  const ids = new Set(report.variants.flatMap(({ cases }) => cases.map(({ id }) => id)));
  const changes = changesByVariant(report);
  return [...ids].map((id, index) => {
    const reports = byVariant.map((cases) => cases.get(id));
    const first = reports.find((one) => one !== undefined);
    return {
      index,
      id,
      ...defined({ description: first?.description }),
      tags: [...new Set(reports.flatMap((one) => one?.tags ?? []))],
      variants: reports.map((one, variant) =>
        variantOfCase(one, changes[variant]?.get(id) ?? 'same'),
      ),
      hasError: reports.some(
        (one) => one?.trials.some(({ status }) => status !== 'completed') ?? false,
      ),
    };
  });
}

function changesByVariant({
  variants,
  comparisons,
}: EvalReport): readonly ReadonlyMap<string, Change>[] {
  return variants.map(({ name }) => {
    const comparison = comparisons.find(({ candidate }) => candidate === name);
    const changes = new Map<string, Change>();
    for (const id of comparison?.improved ?? []) changes.set(id, 'improved');
    for (const id of comparison?.regressed ?? []) changes.set(id, 'regressed');
    return changes;
  });
}

function variantOfCase(report: CaseReport | undefined, change: Change): VariantOfCase {
  const trials = report?.trials.length ?? 0;
  const passed = report?.trials.filter((trial) => trial.passed).length ?? 0;
  return { report, outcome: outcomeOf(passed, trials), change, passed, trials };
}

function outcomeOf(passed: number, trials: number): Outcome {
  if (trials === 0) return 'none';
  if (passed === trials) return 'passed';
  return passed === 0 ? 'failed' : 'flaky';
}

/** The worst that a case came to with any variant. */
export function worstOutcome({ variants }: CaseOverview): Outcome {
  const outcomes = variants.map(({ outcome }) => outcome);
  return (
    (['failed', 'flaky', 'passed'] as const).find((outcome) => outcomes.includes(outcome)) ?? 'none'
  );
}

/** Returns the reason why a trial did not pass, in one line; `undefined` when it passed. */
export function failureReason(trial: TrialReport): string | undefined {
  if (trial.passed) return undefined;
  if (trial.error !== undefined) return trial.error.message;
  const failed = trial.scores.find(({ passed }) => !passed);
  if (failed !== undefined) return `${failed.scorer}: ${failed.explanation}`;
  return trial.status === 'completed' ? undefined : statusTexts[trial.status];
}

/** Returns the reason of the first failed trial of a case. */
export function firstReason({ variants }: CaseOverview): string | undefined {
  for (const { report } of variants) {
    for (const trial of report?.trials ?? []) {
      const reason = failureReason(trial);
      if (reason !== undefined) return reason;
    }
  }
  return undefined;
}

/** End of a trial, as a sentence without its end. */
export const statusTexts: Readonly<Record<TrialReport['status'], string>> = {
  completed: 'completed',
  error: 'ended with an error',
  timed_out: 'took longer than a trial may',
  cancelled: 'was cancelled',
  waiting: 'waited for an answer that nobody gave',
};
