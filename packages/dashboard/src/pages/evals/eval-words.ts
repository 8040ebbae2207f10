import type { EvalComparison, EvalDetails, KeptEval } from '@adjutant/server/client';
import { pathOf } from '../../address/paths.ts';
import { money } from '../../components/format.ts';
import type { StatusName } from '../../components/status.tsx';

export type EvalHead = NonNullable<KeptEval['report']>;
export type Variant = EvalHead['variants'][number];
export type EvalCase = EvalDetails['cases'][number];
export type CaseChange = EvalComparison['cases'][number];
export type CaseSide = NonNullable<CaseChange['baseline']>;

/** Returns the ring and the word for a report. */
export function verdictOf({
  passed,
  finishedAt,
}: Pick<EvalHead, 'passed' | 'finishedAt'>): readonly [StatusName, string] {
  if (finishedAt === undefined) return ['held', 'Stopped'];
  return passed ? ['completed', 'Passed'] : ['failed', 'Not passed'];
}

/** Share as people read it; never 100 % while something is missing. */
export function percent(share: number): string {
  const shown = share < 1 ? Math.min(99, Math.round(share * 100)) : 100;
  return `${shown} %`;
}

export function scoreText(score: number): string {
  return score.toFixed(2);
}

/** Change of a number with its sign, in the words of the number itself. */
export function signed(value: number, words: (value: number) => string): string {
  if (value === 0) return '±0';
  return `${value > 0 ? '+' : '−'}${words(Math.abs(value))}`;
}

/** US dollars, as far as a price is known. */
export function price(cost: number | undefined): string {
  return cost === undefined ? '–' : money(cost);
}

/** Names of a variant: its own, the agent's where it is another one, and the version. */
export function variantText({ name, agent, version }: Variant): string {
  const parts = [name, agent === name ? undefined : agent, version && `version ${version}`];
  return parts.filter((part) => part !== undefined && part !== '').join(' · ');
}

export function passedCase({ trials }: EvalCase): boolean {
  return trials.length > 0 && trials.every(({ passed }) => passed);
}

/** Costs of all variants together; `undefined` where no price is known. */
export function totalCost({ variants }: Pick<EvalHead, 'variants'>): number | undefined {
  const costs = variants.flatMap(({ summary }) => summary.cost?.total ?? []);
  return costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0);
}

type Kind = CaseChange['change'];

export const changeWords: Readonly<Record<Kind, readonly [StatusName, string]>> = {
  worse: ['failed', 'Worse'],
  only_baseline: ['held', 'Only in A'],
  only_candidate: ['queued', 'Only in B'],
  better: ['completed', 'Better'],
  same: ['queued', 'Same'],
};

/** Returns the address of a report. */
export function reportPath(id: string): string {
  return pathOf('evals', id);
}
