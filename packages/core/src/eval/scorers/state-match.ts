import { checkOptions } from '../../base/invalid-option.ts';
import { isNonEmptyText, isOneOf, type OptionChecks } from '../../base/options.ts';
import type { ValuePattern } from '../dataset/eval-case.ts';
import { Place } from '../dataset/place.ts';
import { patternMismatch, readPattern } from '../dataset/value-pattern.ts';
import { isShare } from './own-scorer.ts';
import type { Score, Scorer, TrialRecord } from './scorer.ts';

export interface StateMatchOptions {
  /** @default 'state_match' */
  readonly name?: string;
  /**
   * Session state that is expected of every case; what a case expects itself, in `expect.state`, is
   * added to it. @default nothing
   */
  readonly expected?: { readonly [key: string]: ValuePattern | undefined };
  /**
   * `partial` allows inner objects to have more members than are expected. Keys of the state
   * without an expectation are ignored.
   * @default 'partial'
   */
  readonly match?: 'exact' | 'partial';
  /** The least score that passes. @default 1 */
  readonly threshold?: number;
}

const checks: OptionChecks<StateMatchOptions> = {
  name: isNonEmptyText,
  expected: (value) => {
    try {
      new Place(value, 'expected').object();
      readPattern(new Place(value, 'expected'));
      return undefined;
    } catch {
      return 'an object that gives keys of the session state values or patterns';
    }
  },
  match: isOneOf('exact', 'partial'),
  threshold: isShare,
};

/**
 * Checks that the session state at the end is the expected one. The score is the share of the
 * expected keys that fit.
 * @throws InvalidOptionError
 */
export function stateMatch(options: StateMatchOptions = {}): Scorer {
  checkOptions('stateMatch', options, checks);
  const { name = 'state_match', expected: shared, match = 'partial', threshold = 1 } = options;
  const score = (trial: TrialRecord): Score | undefined => {
    if (shared === undefined && trial.case.expect.state === undefined) return undefined;
    const expected = Object.entries({ ...shared, ...trial.case.expect.state }).filter(
      ([, pattern]) => pattern !== undefined,
    );
    const misfits = expected.flatMap(([key, pattern]) => {
      const value = Object.hasOwn(trial.state, key) ? trial.state[key] : undefined;
      return patternMismatch(pattern, value, match, key) ?? [];
    });
    return {
      score: expected.length === 0 ? 1 : 1 - misfits.length / expected.length,
      explanation:
        misfits.length === 0
          ? 'The state is as expected.'
          : `The state is not as expected: ${misfits.join('; ')}.`,
    };
  };
  return Object.freeze({ name, threshold, score });
}
