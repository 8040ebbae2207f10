import { type Runtime, runtime } from 'adjutant';
import type { EvalOptions, EvalReport, TrialReport } from 'adjutant/eval';
import { weather, weatherCase } from './weather.ts';

export const app = (): Runtime => runtime({ app: 'evals' });

export function trialsOf(report: EvalReport, variant = 0): readonly TrialReport[] {
  return report.variants[variant]?.cases.flatMap(({ trials }) => trials) ?? [];
}

export function only(report: EvalReport): TrialReport {
  const [trial, ...others] = trialsOf(report);
  if (trial === undefined || others.length > 0) throw new TypeError('There is one trial.');
  return trial;
}

export const simple = (more: Partial<EvalOptions> = {}): EvalOptions => ({
  name: 'weather',
  dataset: [weatherCase('Pune')],
  variants: [{ name: 'v', app: app(), runnable: weather().agent }],
  ...more,
});
