import { checkOptions, InvalidOptionError } from '../base/invalid-option.ts';
import { isFunction, isListOfText, type OptionCheck, type OptionChecks } from '../base/options.ts';
import { defaultReplacement, type Replace } from './known-values.ts';
import type { WrittenPattern } from './ledger-file.ts';

/** The values that are taken out of a ledger besides secrets, which are always taken out. */
export interface RedactOptions {
  /**
   * Keys whose values are taken out, by their name (`email`) or the end of their path
   * (`customer.email`, `lookUp.email` for the argument or the result of a tool, `user.email` for
   * the state of a scope), whatever their case. Of an object, everything in it.
   */
  readonly fields?: readonly string[];
  /** The patterns that are taken out of texts. */
  readonly patterns?: readonly RegExp[];
  /**
   * Makes the replacement of a value, the same for equal values. Numbers are replaced by numbers
   * from 990000001 on.
   * @default `[redacted 1]`, `[redacted 2]`, …
   */
  readonly replace?: Replace;
}

/** Checked rules. */
export interface RedactionRules {
  readonly fields: readonly string[];
  readonly patterns: readonly RegExp[];
  readonly replace: Replace;
}

const mostRules = 1_000;
const longestRule = 2_000;
/** Characters that may stand in the place of a value. */
export const longestReplacement = 500;

const isListOfFields: OptionCheck = (value) => {
  const fits =
    isListOfText(value) === undefined &&
    (value as readonly string[]).every((field) => findBadField(field) === undefined);
  return fits ? undefined : 'a list of names of keys, or of paths such as `customer.email`';
};

const isListOfPatterns: OptionCheck = (value) =>
  Array.isArray(value) && value.every((pattern) => pattern instanceof RegExp)
    ? undefined
    : 'a list of regular expressions';

const optionChecks: OptionChecks<RedactOptions> = {
  fields: isListOfFields,
  patterns: isListOfPatterns,
  replace: isFunction,
};

/** @throws InvalidOptionError */
export function redactionRules(options: RedactOptions): RedactionRules {
  checkOptions('exportLedger', options, optionChecks);
  const { fields = [], patterns = [], replace = defaultReplacement } = options;
  for (const { source, flags } of patterns) {
    const reason = findBadPattern({ source, flags });
    if (reason !== undefined)
      throw new InvalidOptionError({
        function: 'exportLedger',
        reason: `\`patterns\` has /${source}/${flags}, which ${reason}`,
      });
  }
  return {
    fields: [...new Set(fields)],
    patterns: patterns.map(searching),
    replace: checkedReplace(replace),
  };
}

/** Rules as a file has them. What is wrong with them, if anything is. */
export function findBadRules(rules: {
  readonly fields: readonly string[];
  readonly patterns: readonly WrittenPattern[];
}): string | undefined {
  if (rules.fields.length > mostRules || rules.patterns.length > mostRules)
    return `it has more than ${mostRules} rules of redaction`;
  for (const field of rules.fields)
    if (findBadField(field) !== undefined)
      return 'one of the fields that it redacts is not the name or path of a key';
  for (const pattern of rules.patterns) {
    const reason = findBadPattern(pattern);
    if (reason !== undefined) return `one of the patterns that it redacts ${reason}`;
  }
  return undefined;
}

/** A pattern that finds everything. */
export function searching({ source, flags }: WrittenPattern): RegExp {
  return new RegExp(source, `${flags.replace(/[gyd]/g, '')}g`);
}

function findBadField(field: string): string | undefined {
  const isPath =
    field.length <= longestRule && field.split('.').every((part) => part.trim() !== '');
  return isPath ? undefined : 'is not the name or path of a key';
}

/** Returns the reason why a pattern cannot be used, also for patterns from outside. */
function findBadPattern({ source, flags }: WrittenPattern): string | undefined {
  if (source.length > longestRule) return `has more than ${longestRule} characters`;
  try {
    const pattern = new RegExp(source, flags);
    if (pattern.test('')) return 'also finds nothing at all';
  } catch (cause) {
    return `is no regular expression (${(cause as Error).message})`;
  }
  return mayTakeForEver(source)
    ? 'may take for ever: a part that is repeated has a repeat or a choice of its own'
    : undefined;
}

/** Repeats of a group with a choice in it that double the ways to read a text too often. */
const mostChoices = 10;

/**
 * Checks that a repeated group has an endless repeat in it, or that a group repeated endlessly or
 * often has a choice in it. Such patterns become exponential.
 */
function mayTakeForEver(source: string): boolean {
  const plain = source.replace(/\\(?:.|$)/gs, 'x').replace(/\[[^\]]*\]/g, 'x');
  const open: GroupRisk[] = [];
  for (let at = 0; at < plain.length; at++) {
    const symbol = plain[at] as string;
    if (symbol === '(') open.push({ isEndless: false, hasChoice: false });
    else if (symbol === ')') {
      const group = open.pop() ?? { isEndless: false, hasChoice: false };
      const times = repeatsAt(plain, at + 1);
      if ((group.isEndless && times > 1) || (group.hasChoice && times > mostChoices)) return true;
      const around = open.at(-1);
      if (around === undefined) continue;
      // The repeat of the group itself is looked at next.
      around.isEndless ||= group.isEndless;
      around.hasChoice ||= group.hasChoice;
    } else {
      const group = open.at(-1);
      if (group === undefined) continue;
      group.isEndless ||= repeatsAt(plain, at) === Number.POSITIVE_INFINITY;
      group.hasChoice ||= symbol === '|' || isOptional(plain, at);
    }
  }
  return false;
}

interface GroupRisk {
  isEndless: boolean;
  hasChoice: boolean;
}

/** Returns the most repetitions of the pattern before a place. */
function repeatsAt(plain: string, at: number): number {
  const [, endless, least, comma, most] =
    /^(?:([*+])|\{(\d+)(,?)(\d*)\})/.exec(plain.slice(at, at + 24)) ?? [];
  if (endless !== undefined || (comma === ',' && most === '')) return Number.POSITIVE_INFINITY;
  return least === undefined ? 1 : Number(most === '' ? least : most);
}

/**
 * Checks that the part before a place may be missing or have several lengths. A question mark
 * behind a repeat or a bracket has another meaning.
 */
function isOptional(plain: string, at: number): boolean {
  if (plain[at] === '?') return at > 0 && !'(*+?}'.includes(plain[at - 1] as string);
  return (
    plain[at] === '{' &&
    /^\{(\d+),(\d+)\}/.test(plain.slice(at, at + 24)) &&
    !/^\{(\d+),\1\}/.test(plain.slice(at, at + 24))
  );
}

/** @throws InvalidOptionError for what cannot stand in the place of a value */
function checkedReplace(replace: Replace): Replace {
  return (redacted) => {
    const replacement: unknown = replace(redacted);
    if (
      typeof replacement === 'string' &&
      replacement.length <= longestReplacement &&
      replacement.trim() !== '' &&
      !/[/#~>\p{Cc}]/u.test(replacement)
    )
      return replacement;
    const reason =
      '`replace` must give a text of 1 to 500 characters that has none of / # ~ > and no ' +
      'control characters: it may stand in the path of an invocation';
    throw new InvalidOptionError({ function: 'exportLedger', reason });
  };
}
