import { nearestName } from './nearest-name.ts';
import { ideaHint } from './option-names.ts';

/**
 * Checks one value. Returns `undefined` for a valid value, else the requirement as words that
 * follow "must be", such as "a list of strings".
 */
export type OptionCheck = (value: unknown) => string | undefined;

/**
 * The allowed options of `Options`, each with its check. Every member needs one, so a new option
 * cannot be forgotten. Options that are `undefined` are not checked.
 */
export type OptionChecks<Options> = { readonly [Key in keyof Required<Options>]: OptionCheck };

/** Makes a check from its requirement in words and its test. */
const check =
  (expected: string, fits: (value: unknown) => boolean): OptionCheck =>
  (value) =>
    fits(value) ? undefined : expected;

const isNumeric = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value);

/** Accepts any string, the empty one too. */
export const isText: OptionCheck = check('a string', (value) => typeof value === 'string');
/** Accepts a string with at least one character. */
export const isNonEmptyText: OptionCheck = check(
  'a string that is not empty',
  (value) => typeof value === 'string' && value !== '',
);
/** Accepts `true` and `false`. */
export const isFlag: OptionCheck = check('true or false', (value) => typeof value === 'boolean');
/** Accepts a function or a class. */
export const isFunction: OptionCheck = check('a function', (value) => typeof value === 'function');
/** Accepts any object that is no list and not `null`. */
export const isObject: OptionCheck = check(
  'an object',
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
/** Accepts a list of any values. */
export const isList: OptionCheck = check('a list', Array.isArray);
/** Accepts every value: for options that are checked elsewhere. */
export const isAnything: OptionCheck = () => undefined;
/** Accepts a finite number. */
export const isNumber: OptionCheck = check('a number', isNumeric);
/** Accepts a finite number greater than 0. */
export const isPositive: OptionCheck = check(
  'a number greater than 0',
  (value) => isNumeric(value) && value > 0,
);
/** Accepts a finite number greater than 0, or `false` for none. */
export const isPositiveOrNone: OptionCheck = check(
  'a number greater than 0, or false',
  (value) => value === false || (isNumeric(value) && value > 0),
);
/** Accepts a finite number from 0. */
export const isNotNegative: OptionCheck = check(
  'a number from 0',
  (value) => isNumeric(value) && value >= 0,
);
/** Accepts a whole number from 1. */
export const isAmount: OptionCheck = check(
  'a whole number from 0',
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);
export const isCount: OptionCheck = check(
  'a whole number from 1',
  (value) => Number.isInteger(value) && (value as number) >= 1,
);
/** Accepts a whole number from 0. */
export const isCountOrNone: OptionCheck = check(
  'a whole number from 0',
  (value) => Number.isInteger(value) && (value as number) >= 0,
);
/** Accepts a list of strings, the empty list too. */
export const isListOfText: OptionCheck = check(
  'a list of strings',
  (value) => Array.isArray(value) && value.every((part) => typeof part === 'string'),
);
/** Accepts a list of functions, the empty list too. */
export const isListOfFunctions: OptionCheck = check(
  'a list of functions',
  (value) => Array.isArray(value) && value.every((part) => typeof part === 'function'),
);

/** Makes a check that accepts one of these strings. */
export function isOneOf(...choices: readonly string[]): OptionCheck {
  return check(`one of ${choices.map((choice) => `'${choice}'`).join(', ')}`, (value) =>
    choices.includes(value as string),
  );
}

/** Makes a check that accepts a list of these strings, the empty list too. */
export function isListOf(...choices: readonly string[]): OptionCheck {
  const expected = `a list of ${choices.map((choice) => `'${choice}'`).join(', ')}`;
  return check(
    expected,
    (value) => Array.isArray(value) && value.every((part) => choices.includes(part)),
  );
}

/**
 * Makes a check for an option that is itself a group of options. The message names the inner option
 * that is unknown or invalid.
 */
export function isGroup<Options>(checks: OptionChecks<Options>): OptionCheck {
  return (value) =>
    isObject(value) === undefined
      ? findInvalidOption(value as object, checks)?.within
      : 'an object';
}

/** The fault of the first invalid option. */
export interface InvalidOption {
  /** The fault as the end of a sentence, such as "`name` must be a string, not 3". */
  readonly reason: string;
  /** The same fault as a requirement on the group around it, to follow "must be". */
  readonly within: string;
}

/**
 * Returns the fault of the first option that does not exist or has an invalid value; `undefined`
 * when all options are valid. An unknown option is reported with the nearest known name.
 */
export function findInvalidOption<Options>(
  options: unknown,
  checks: OptionChecks<Options>,
): InvalidOption | undefined {
  if (isObject(options) !== undefined)
    return {
      reason: `the options must be an object, not ${describeValue(options)}`,
      within: 'an object',
    };
  for (const [key, value] of Object.entries(options as object)) {
    const checkOne = (checks as Readonly<Record<string, OptionCheck>>)[key];
    if (checkOne === undefined || !Object.hasOwn(checks, key)) {
      const hint = hintFor(key, Object.keys(checks));
      return {
        reason: `there is no option \`${key}\` (${hint})`,
        within: `an object without \`${key}\` (${hint})`,
      };
    }
    const expected = value === undefined ? undefined : checkOne(value);
    if (expected !== undefined) {
      const found = describeValue(value);
      // A message such as "must be an object whose `ttlMs` is …, not an object" would not help.
      const contrast = expected.startsWith(found) ? '' : `, not ${found}`;
      // Texts inside groups may be secrets, so only numbers and flags are shown.
      const within = typeof value === 'number' || typeof value === 'boolean' ? contrast : '';
      return {
        reason: `\`${key}\` must be ${expected}${contrast}`,
        within: `an object whose \`${key}\` is ${expected}${within}`,
      };
    }
  }
  return undefined;
}

/**
 * Returns the hint about an unknown option: the option that holds its idea, the one with the
 * nearest name, or all names.
 */
function hintFor(key: string, known: readonly string[]): string {
  const idea = ideaHint(key, known);
  if (idea !== undefined) return idea;
  const nearest = nearestName(key, known);
  return nearest === undefined
    ? `the options are ${known.join(', ')}`
    : `did you mean \`${nearest}\`?`;
}

/** Characters of the longest string that a message shows. */
const longestValue = 60;

/** Describes a value for an error message: itself when it is short and plain, else its kind. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'string')
    return value.length > longestValue
      ? `a string of ${value.length} characters`
      : JSON.stringify(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  if (value instanceof RegExp) return 'a regular expression';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
