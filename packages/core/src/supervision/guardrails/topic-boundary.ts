import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import { isPlainObject } from '../../base/json.ts';
import {
  isCountOrNone,
  isFlag,
  isNonEmptyText,
  isOneOf,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';
import type { Guardrail, GuardrailVerdict } from '../guardrail.ts';
import { folded, isUnspaced, significantWords, wordsOf } from '../search-words.ts';
import { searchedCharacters, withoutHidden } from './texts.ts';

/**
 * Topics by their names for people, each with words, phrases and regular expressions that tell it.
 * Case, accents and spaces do not matter; `invest*` stands for all words that begin so.
 */
export type Topics = Readonly<Record<string, readonly (string | RegExp)[]>>;

export interface TopicBoundaryOptions {
  /** Topics that are out of bounds. */
  readonly denied?: Topics;
  /** The only topics that messages may be about. Short messages may be about anything. */
  readonly allowed?: Topics;
  /**
   * `deny`: a message is refused, and an answer replaced. `guide`: the model is told to stay within
   * the topics. @default 'deny'
   */
  readonly action?: 'deny' | 'guide';
  /** Text in place of an answer. @default a sentence that names the topics */
  readonly message?: string;
  /** Looks at answers about `denied` topics, too. @default true */
  readonly output?: boolean;
  /**
   * Significant words that a message has at least before it must be about an `allowed` topic: an
   * answer such as "Yes, please" is about none. @default 3
   */
  readonly minWords?: number;
}

const isTopics: OptionCheck = (value) => {
  if (!isPlainObject(value) || Object.keys(value).length === 0)
    return 'an object that gives names of topics lists of words';
  const isList = (terms: unknown): boolean =>
    Array.isArray(terms) && terms.length > 0 && terms.every(isTerm);
  const wrong = Object.keys(value).find((name) => !isList(value[name]));
  return wrong === undefined
    ? undefined
    : `an object whose topics are lists of words and regular expressions ("${wrong}" is none)`;
};

/** A text without a letter or digit would stand for nothing, or for everything. */
function isTerm(term: unknown): boolean {
  return term instanceof RegExp || (typeof term === 'string' && wordsOf(term).length > 0);
}

const optionChecks: OptionChecks<TopicBoundaryOptions> = {
  denied: isTopics,
  allowed: isTopics,
  action: isOneOf('deny', 'guide'),
  message: isNonEmptyText,
  output: isFlag,
  minWords: isCountOrNone,
};

/**
 * Keeps an agent within its topics: messages about others are refused, or the model is told to lead
 * back. Words decide, and no model: what is told by no word is not found.
 * @throws InvalidOptionError
 */
export function topicBoundary(options: TopicBoundaryOptions): Guardrail {
  checkOptions('topicBoundary', options, optionChecks);
  const { denied, allowed, action = 'deny', output = true, minWords = 3 } = options;
  if (denied === undefined && allowed === undefined)
    throw new InvalidOptionError({
      function: 'topicBoundary',
      reason: '`denied` or `allowed` is needed',
    });
  const isDenied = finderOf(denied ?? {});
  const isAllowed = finderOf(allowed ?? {});
  const names = Object.keys(allowed ?? {}).join(', ');
  const only = allowed === undefined ? '' : ` I can help with these topics: ${names}.`;
  const { message = `I cannot help with that.${only}` } = options;
  const verdict = (reasoning: string, guidance: string): GuardrailVerdict<'input'> => ({
    action,
    message: action === 'deny' ? message : guidance,
    reasoning,
  });
  const within =
    allowed === undefined ? 'other topics than this one' : `these topics alone: ${names}`;
  const lead = `Do not help with it. Say so, and offer ${within}.`;
  return Object.freeze({
    name: 'topicBoundary',
    input: ({ text }: { readonly text: string }) => {
      const found = isDenied(text);
      if (found !== undefined)
        return verdict(
          `The message is about the denied topic "${found}".`,
          `The last message is about "${found}", which is out of bounds. ${lead}`,
        );
      if (allowed === undefined || isAllowed(text) !== undefined) return undefined;
      if (significantWords(text).length < minWords) return undefined;
      return verdict(
        `The message is about none of the allowed topics (${names}).`,
        `The last message is about none of the allowed topics. ${lead}`,
      );
    },
    ...(output &&
      denied !== undefined && {
        output: ({ text }: { readonly text: string }) => {
          const found = isDenied(text);
          return found === undefined
            ? undefined
            : verdict(
                `The answer is about the denied topic "${found}".`,
                `Your answer is about "${found}", which is out of bounds. Answer without it.`,
              );
        },
      }),
  });
}

/** Returns a function that finds the first of the topics in a text. */
function finderOf(topics: Topics): (text: string) => string | undefined {
  const finders = Object.entries(topics).map(
    ([name, terms]) => [name, terms.map(matcherOf)] as const,
  );
  return (written) => {
    if (finders.length === 0) return undefined;
    const text = withoutHidden(written.slice(0, searchedCharacters));
    const seen = { text, folded: folded(text), words: ` ${wordsOf(text).join(' ')} ` };
    return finders.find(([, matchers]) => matchers.some((matches) => matches(seen)))?.[0];
  };
}

interface SeenText {
  readonly text: string;
  readonly folded: string;
  /** Words between single spaces, with one at each end. */
  readonly words: string;
}

function matcherOf(term: string | RegExp): (seen: SeenText) => boolean {
  // `search` ignores flags of state, so a pattern with `g` gives the same answer the second time.
  if (term instanceof RegExp) return ({ text }) => text.search(term) >= 0;
  const words = wordsOf(term).join(' ');
  if (isUnspaced(words)) return (seen) => seen.folded.includes(words);
  const sought = term.trimEnd().endsWith('*') ? ` ${words}` : ` ${words} `;
  return (seen) => seen.words.includes(sought);
}
