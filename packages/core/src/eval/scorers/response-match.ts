import { checkOptions } from '../../base/invalid-option.ts';
import { isFlag, isNonEmptyText, isOneOf, type OptionChecks } from '../../base/options.ts';
import type { ExpectedResponse } from '../dataset/eval-case.ts';
import { expressionMatches, shown } from '../dataset/value-pattern.ts';
import { expectedUnits, meanOfUnits } from './expected-units.ts';
import { isShare } from './own-scorer.ts';
import type { Score, Scorer } from './scorer.ts';
import { tokenOverlap } from './text-overlap.ts';

export interface ResponseMatchOptions {
  /** @default 'response_match' */
  readonly name?: string;
  /**
   * Comparison of an expected text with the answer. `exact`: they are equal. `contains`: the answer
   * has it. `regex`: it is a regular expression that matches. `overlap`: words in common, as
   * ROUGE-1 F1. An expectation that says what it wants (`{ contains: … }`) is checked as it says.
   * @default 'overlap'
   */
  readonly match?: 'exact' | 'contains' | 'regex' | 'overlap';
  /** Capital and small letters are the same. @default true, false with `exact` */
  readonly ignoreCase?: boolean;
  /** The least score that passes. @default 0.8 with `overlap`, else 1 */
  readonly threshold?: number;
}

const checks: OptionChecks<ResponseMatchOptions> = {
  name: isNonEmptyText,
  match: isOneOf('exact', 'contains', 'regex', 'overlap'),
  ignoreCase: isFlag,
  threshold: isShare,
};

type Match = NonNullable<ResponseMatchOptions['match']>;

/**
 * Compares the answers with those that a case expects, in `expect.response` of its turns or of the
 * case. White space at the ends and its amount inside count for nothing.
 * @throws InvalidOptionError
 */
export function responseMatch(options: ResponseMatchOptions = {}): Scorer {
  checkOptions('responseMatch', options, checks);
  const { match = 'overlap' } = options;
  const {
    name = 'response_match',
    ignoreCase = match !== 'exact',
    threshold = match === 'overlap' ? 0.8 : 1,
  } = options;
  return Object.freeze({
    name,
    threshold,
    score: (trial: Parameters<Scorer['score']>[0]) =>
      meanOfUnits(
        expectedUnits(trial, (expect) => expect.response !== undefined),
        ({ expect, answer }) =>
          compare(expect.response as ExpectedResponse, answer, match, ignoreCase),
      ),
  });
}

function compare(
  expected: ExpectedResponse,
  answer: string,
  match: Match,
  ignoreCase: boolean,
): Score {
  if (typeof expected !== 'string') return meetsAll(expected, answer, ignoreCase);
  switch (match) {
    case 'exact':
      return meetsAll({ equals: expected }, answer, ignoreCase);
    case 'contains':
      return meetsAll({ contains: expected }, answer, ignoreCase);
    case 'regex':
      return meetsAll(
        { matches: expected, ...(ignoreCase ? { flags: 'i' } : {}) },
        answer,
        ignoreCase,
      );
    case 'overlap':
      return overlapScore(expected, answer);
  }
}

function overlapScore(expected: string, answer: string): Score {
  const { precision, recall, f1 } = tokenOverlap(answer, expected);
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  const common =
    `${percent(recall)} of the expected words are in the answer, and ${percent(precision)} ` +
    'of its words are expected';
  return {
    score: f1,
    explanation:
      f1 === 1
        ? 'The answer has the expected words.'
        : `${common}. Expected ${shown(expected)}, got ${shown(answer)}.`,
    details: { precision, recall, f1 },
  };
}

type Requirements = Exclude<ExpectedResponse, string>;

/** The share of what is required that the answer does. */
function meetsAll(required: Requirements, given: string, ignoreCase: boolean): Score {
  const even = (text: string): string => {
    const spaced = text.normalize('NFC').replace(/\s+/g, ' ').trim();
    return ignoreCase ? spaced.toLowerCase() : spaced;
  };
  const answer = even(given);
  const found: (readonly [boolean, string])[] = [];
  if (required.equals !== undefined)
    found.push([answer === even(required.equals), `it is not ${shown(required.equals)}`]);
  for (const text of [required.contains ?? []].flat())
    found.push([answer.includes(even(text)), `it does not contain ${shown(text)}`]);
  for (const text of [required.excludes ?? []].flat())
    found.push([!answer.includes(even(text)), `it contains ${shown(text)}`]);
  if (required.matches !== undefined) {
    const expression =
      typeof required.matches === 'string'
        ? new RegExp(required.matches, required.flags ?? '')
        : required.matches;
    found.push([expressionMatches(expression, given), `it does not match ${expression}`]);
  }
  const failed = found.filter(([holds]) => !holds).map(([, reason]) => reason);
  return {
    score: found.length === 0 ? 1 : 1 - failed.length / found.length,
    explanation:
      failed.length === 0
        ? 'The answer is as expected.'
        : `The answer is not as expected: ${failed.join(', ')}. It is ${shown(given)}.`,
  };
}
