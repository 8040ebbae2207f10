import { nearestName } from './nearest-name.ts';

/** Says what an option must be, when a value is not that; `undefined` when it fits. */
export type OptionCheck = (value: unknown) => string | undefined;

/** Which options there are, and what each must be. Options that are `undefined` are not checked. */
export type OptionChecks<Options> = { readonly [Key in keyof Required<Options>]: OptionCheck };

const check =
  (expected: string, fits: (value: unknown) => boolean): OptionCheck =>
  (value) =>
    fits(value) ? undefined : expected;

const isNumeric = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value);

export const isText: OptionCheck = check('a string', (value) => typeof value === 'string');
export const isNonEmptyText: OptionCheck = check(
  'a string that is not empty',
  (value) => typeof value === 'string' && value !== '',
);
export const isFlag: OptionCheck = check('true or false', (value) => typeof value === 'boolean');
export const isFunction: OptionCheck = check('a function', (value) => typeof value === 'function');
export const isObject: OptionCheck = check(
  'an object',
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
export const isList: OptionCheck = check('a list', Array.isArray);
export const isAnything: OptionCheck = () => undefined;
export const isNumber: OptionCheck = check('a number', isNumeric);
export const isPositive: OptionCheck = check(
  'a number greater than 0',
  (value) => isNumeric(value) && value > 0,
);
export const isNotNegative: OptionCheck = check(
  'a number from 0',
  (value) => isNumeric(value) && value >= 0,
);
export const isCount: OptionCheck = check(
  'a whole number from 1',
  (value) => Number.isInteger(value) && (value as number) >= 1,
);
export const isCountOrNone: OptionCheck = check(
  'a whole number from 0',
  (value) => Number.isInteger(value) && (value as number) >= 0,
);
export const isListOfText: OptionCheck = check(
  'a list of strings',
  (value) => Array.isArray(value) && value.every((part) => typeof part === 'string'),
);
export const isListOfFunctions: OptionCheck = check(
  'a list of functions',
  (value) => Array.isArray(value) && value.every((part) => typeof part === 'function'),
);

export function isOneOf(...choices: readonly string[]): OptionCheck {
  return check(`one of ${choices.map((choice) => `'${choice}'`).join(', ')}`, (value) =>
    choices.includes(value as string),
  );
}

export function isListOf(...choices: readonly string[]): OptionCheck {
  const expected = `a list of ${choices.map((choice) => `'${choice}'`).join(', ')}`;
  return check(
    expected,
    (value) => Array.isArray(value) && value.every((part) => choices.includes(part)),
  );
}

/** Checks for an option that is a group of options; what is wrong inside is named by its path. */
export function isGroup<Options>(checks: OptionChecks<Options>): OptionCheck {
  return (value) =>
    isObject(value) === undefined
      ? findInvalidOption(value as object, checks)?.within
      : 'an object';
}

/** What is wrong with options: a sentence to end "cannot be …: ". */
export interface InvalidOption {
  readonly reason: string;
  /** What the group around it must be. */
  readonly within: string;
}

/**
 * The first option that does not exist, with the nearest one that does, or that is not what it must
 * be.
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
      const nearest = nearestName(key, Object.keys(checks));
      const hint =
        nearest === undefined
          ? `the options are ${Object.keys(checks).join(', ')}`
          : `did you mean \`${nearest}\`?`;
      return {
        reason: `there is no option \`${key}\` (${hint})`,
        within: `an object without \`${key}\` (${hint})`,
      };
    }
    const expected = value === undefined ? undefined : checkOne(value);
    if (expected !== undefined) {
      const found = describeValue(value);
      // "must be an object whose `ttl` is …, not an object" would help nobody.
      const contrast = expected.startsWith(found) ? '' : `, not ${found}`;
      // Texts inside groups may be secrets.
      const within = typeof value === 'number' || typeof value === 'boolean' ? contrast : '';
      return {
        reason: `\`${key}\` must be ${expected}${contrast}`,
        within: `an object whose \`${key}\` is ${expected}${within}`,
      };
    }
  }
  return undefined;
}

const longestValue = 60;

/** A value for an error message: its kind, and itself when it is short and plain. */
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
