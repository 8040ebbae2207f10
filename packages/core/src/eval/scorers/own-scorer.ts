import { defined } from '../../base/defined.ts';
import { checkOptions } from '../../base/invalid-option.ts';
import { findJsonDefect } from '../../base/json.ts';
import {
  describeValue,
  isFunction,
  isNonEmptyText,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';
import { InvalidScoreError } from './errors.ts';
import type { Score, Scorer, ScorerContext, TrialRecord } from './scorer.ts';

/**
 * A score in short: a number from 0 to 1, or whether it is as it should be; `undefined`: there is
 * nothing to judge.
 */
export type LooseScore = Score | number | boolean | undefined;

export interface OwnScorerOptions {
  readonly name: string;
  /** The least score that passes. @default 1 */
  readonly threshold?: number;
  readonly score: (trial: TrialRecord, context: ScorerContext) => LooseScore | Promise<LooseScore>;
}

export const isShare: OptionCheck = (value) =>
  typeof value === 'number' && value >= 0 && value <= 1 ? undefined : 'a number from 0 to 1';

const checks: OptionChecks<OwnScorerOptions> = {
  name: isNonEmptyText,
  threshold: isShare,
  score: isFunction,
};

/** A scorer of one's own. @throws InvalidOptionError */
export function scorer(options: OwnScorerOptions): Scorer {
  checkOptions(
    'scorer',
    typeof options === 'object' && options !== null
      ? { ...options, name: options.name ?? null, score: options.score ?? null }
      : options,
    checks,
  );
  const { name, threshold = 1, score } = options;
  return Object.freeze({
    name,
    threshold,
    score: async (trial: TrialRecord, context: ScorerContext) =>
      fullScore(name, await score(trial, context)),
  });
}

/** @throws InvalidScoreError when it is none */
export function fullScore(name: string, given: LooseScore): Score | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'boolean')
    return {
      score: given ? 1 : 0,
      explanation: given ? 'It is as it should be.' : 'It is not as it should be.',
    };
  if (typeof given === 'number')
    return { score: checked(name, given), explanation: `The score is ${given}.` };
  if (typeof given !== 'object' || given === null)
    throw new InvalidScoreError({
      scorer: name,
      reason: `a score is expected, not ${describeValue(given)}`,
    });
  const { score, explanation, details } = given;
  if (typeof explanation !== 'string')
    throw new InvalidScoreError({
      scorer: name,
      reason: `\`explanation\` must be a string, not ${describeValue(explanation)}`,
    });
  const defect = details === undefined ? undefined : findJsonDefect(details, 'details');
  if (defect !== undefined)
    throw new InvalidScoreError({
      scorer: name,
      reason: `${defect.path} is not JSON but ${defect.found}`,
    });
  return {
    score: checked(name, score),
    explanation,
    ...defined({ details }),
  };
}

function checked(name: string, score: unknown): number {
  const expected = isShare(score);
  if (expected !== undefined)
    throw new InvalidScoreError({
      scorer: name,
      reason: `the score must be ${expected}, not ${describeValue(score)}`,
    });
  return score as number;
}
