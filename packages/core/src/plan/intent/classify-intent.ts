import { InvalidOptionError } from '../../base/invalid-option.ts';
import {
  findInvalidOption,
  isCount,
  isFunction,
  isListOfText,
  isNonEmptyText,
  isOneOf,
  isText,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';

/**
 * Work that a message asks for.
 * - `simple`: one answer of a model, without tools.
 * - `tool`: an agent with tools.
 * - `complex`: several steps that depend on each other, as a plan has them.
 */
export type Intent = 'simple' | 'tool' | 'complex';

/** All intents, the one with the least work first. */
export const intents: readonly Intent[] = Object.freeze(['simple', 'tool', 'complex']);

/** Finds something in a message: a pattern, or a list of whole words or phrases in any case. */
export type WordTest = RegExp | readonly string[];

/** Test of a message: see `WordTest`, or a pure function. */
export type IntentTest = WordTest | ((message: string) => boolean);

/** A sign of an intent. */
export interface IntentRule {
  readonly intent: Intent;
  readonly when: IntentTest;
  /** Reason, for people. @default the words that were found */
  readonly reason?: string;
}

/** An intent, with the signs that speak for it. */
export interface ClassifiedIntent {
  readonly intent: Intent;
  /** Reasons of the rules that matched for this intent; without a match one for the default. */
  readonly reasons: readonly string[];
}

/** Classifies a message. It is pure, and asks no model. */
export type IntentClassifier = (message: string) => ClassifiedIntent;

export interface ClassifyIntentOptions {
  /** Intent of a message that no rule matches. @default 'tool' */
  readonly default?: Intent;
  /** Words from which a message is `complex`, whatever it says. @default none */
  readonly complexWords?: number;
}

const ruleChecks: OptionChecks<IntentRule> = {
  intent: isOneOf(...intents),
  when: isTest,
  reason: isText,
};

const optionChecks: OptionChecks<ClassifyIntentOptions> = {
  default: isOneOf(...intents),
  complexWords: isCount,
};

/** Characters at the start of a message that rules see: longer messages cost no more. */
const longestText = 10_000;

/**
 * Makes a classifier of intents from rules. All rules are tried, and the most work that one of
 * them asks for counts: "thanks, and then book the flight" is not simple.
 * @throws InvalidOptionError
 * @example
 * ```ts
 * import { classifyIntent, englishIntents } from 'adjutant/plan';
 *
 * const intentOf = classifyIntent([
 *   ...englishIntents,
 *   { intent: 'tool', when: ['invoice', 'refund'], reason: 'it is about money' },
 * ]);
 * console.log(intentOf('Where is my refund?').intent); // 'tool'
 * ```
 */
export function classifyIntent(
  rules: readonly IntentRule[],
  options: ClassifyIntentOptions = {},
): IntentClassifier {
  checkRules(rules, options);
  const tests = rules.map(({ intent, when, reason }) => ({ intent, find: finderOf(when), reason }));
  const fallback = options.default ?? 'tool';
  return (message) => {
    const text = String(message).slice(0, longestText);
    const found = new Map<Intent, string[]>();
    for (const { intent, find, reason } of tests) {
      const sign = find(text);
      if (sign === undefined) continue;
      const reasons = found.get(intent);
      const said = reason ?? sign;
      if (reasons === undefined) found.set(intent, [said]);
      else if (!reasons.includes(said)) reasons.push(said);
    }
    const long = tooLong(text, options.complexWords);
    if (long !== undefined) found.set('complex', [...(found.get('complex') ?? []), long]);
    const intent = intents.findLast((one) => found.has(one));
    return intent === undefined
      ? { intent: fallback, reasons: ['no rule matches'] }
      : { intent, reasons: found.get(intent) ?? [] };
  };
}

function tooLong(text: string, limit: number | undefined): string | undefined {
  if (limit === undefined) return undefined;
  const words = text.match(/\S+/g)?.length ?? 0;
  return words >= limit ? `it has ${words} words` : undefined;
}

/** Returns a function that gives the sign that it found in a text, for people. */
export function finderOf(when: IntentTest): (text: string) => string | undefined {
  if (typeof when === 'function') return (text) => (when(text) ? 'its rule matches' : undefined);
  // A pattern with the flag `g` or `y` would go on where it last found something.
  const pattern = Array.isArray(when)
    ? wordsPattern(when)
    : new RegExp((when as RegExp).source, (when as RegExp).flags.replace(/[gy]/g, ''));
  return (text) => {
    const [found] = pattern.exec(text) ?? [];
    return found === undefined ? undefined : `it says "${found.slice(0, 60)}"`;
  };
}

function wordsPattern(words: readonly string[]): RegExp {
  const parts = words.map((word) =>
    word
      .trim()
      .split(/\s+/)
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
      .join('\\s+'),
  );
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${parts.join('|')})(?![\\p{L}\\p{N}])`, 'iu');
}

function checkRules(rules: readonly IntentRule[], options: ClassifyIntentOptions): void {
  const refuse = (reason: string): never => {
    throw new InvalidOptionError({ function: 'classifyIntent', reason });
  };
  if (!Array.isArray(rules)) refuse('the rules must be a list');
  rules.forEach((rule, i) => {
    const invalid = findInvalidOption(rule, ruleChecks);
    if (invalid !== undefined) refuse(`in rule ${i} ${invalid.reason}`);
    for (const member of ['intent', 'when'] as const)
      if (rule[member] === undefined)
        refuse(`rule ${i} has no \`${member}\`: it must be ${ruleChecks[member](undefined)}`);
  });
  const invalid = findInvalidOption(options, optionChecks);
  if (invalid !== undefined) refuse(invalid.reason);
}

/** Requirement on a test of messages. */
export function isTest(value: unknown): ReturnType<OptionCheck> {
  const isWords =
    isListOfText(value) === undefined &&
    (value as readonly string[]).length > 0 &&
    (value as readonly string[]).every((word) => isNonEmptyText(word.trim()) === undefined);
  return isWords || value instanceof RegExp || isFunction(value) === undefined
    ? undefined
    : 'a pattern, a list of words that are not empty, or a function';
}
