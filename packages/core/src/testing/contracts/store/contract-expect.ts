import { AssertionError } from 'node:assert';
import { inspect } from 'node:util';

/** Assertions of the contracts about a value: the same in every test runner. */
export interface Expectation {
  toBe(expected: unknown): void;
  /** Checks that all parts are equal; a member that is `undefined` counts as missing. */
  toEqual(expected: unknown): void;
  /** Checks that the value has at least these parts; lists have the same length. */
  toMatchObject(expected: object): void;
  toBeUndefined(): void;
  toBeDefined(): void;
  toBeGreaterThan(expected: number): void;
  toContain(expected: unknown): void;
  toHaveLength(expected: number): void;
  readonly not: { toBe(expected: unknown): void; toHaveProperty(name: string): void };
}

/** @param subject the name of the value, for the message */
export type Expect = (actual: unknown, subject?: string) => Expectation;

export const contractExpect: Expect = (actual, subject) => {
  const claim = (holds: boolean, relation: string, expected?: unknown): void => {
    if (holds) return;
    const what = subject === undefined ? '' : `${subject}: `;
    const wanted = expected === undefined ? '' : ` ${show(expected)}`;
    throw new AssertionError({
      message: `${what}expected ${show(actual)} ${relation}${wanted}`,
      actual,
      expected,
      operator: relation,
    });
  };
  const length = (actual as { readonly length?: unknown } | undefined)?.length;
  return {
    toBe: (expected) => claim(Object.is(actual, expected), 'to be', expected),
    toEqual: (expected) => claim(isEqual(actual, expected), 'to equal', expected),
    toMatchObject: (expected) => claim(matches(actual, expected), 'to match', expected),
    toBeUndefined: () => claim(actual === undefined, 'to be undefined'),
    toBeDefined: () => claim(actual !== undefined, 'to be defined'),
    toBeGreaterThan: (expected) =>
      claim(typeof actual === 'number' && actual > expected, 'to be greater than', expected),
    toContain: (expected) =>
      claim(Array.isArray(actual) && actual.includes(expected), 'to contain', expected),
    toHaveLength: (expected) => claim(length === expected, 'to have the length', expected),
    not: {
      toBe: (expected) => claim(!Object.is(actual, expected), 'not to be', expected),
      toHaveProperty: (name) =>
        claim(!(name in (actual as object)), 'not to have the property', name),
    },
  };
};

function show(value: unknown): string {
  const text = inspect(value, { depth: 6, breakLength: 120 });
  return text.length <= 2_000 ? text : `${text.slice(0, 2_000)}…`;
}

function isEqual(left: unknown, right: unknown): boolean {
  return compare(left, right, true);
}

function matches(actual: unknown, expected: unknown): boolean {
  return compare(actual, expected, false);
}

/** @param isWhole true when `left` may have nothing more than `right` */
function compare(left: unknown, right: unknown, isWhole: boolean): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return false;
  if (left instanceof Uint8Array || right instanceof Uint8Array) {
    return (
      left instanceof Uint8Array &&
      right instanceof Uint8Array &&
      left.length === right.length &&
      left.every((byte, i) => byte === right[i])
    );
  }
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  if (Array.isArray(left) && left.length !== (right as readonly unknown[]).length) return false;
  const [found, wanted] = [definedKeys(left), definedKeys(right)];
  if (isWhole && found.length !== wanted.length) return false;
  return wanted.every(
    (key) => key in left && compare(memberOf(left, key), memberOf(right, key), isWhole),
  );
}

function definedKeys(value: object): readonly string[] {
  return Object.keys(value).filter((key) => memberOf(value, key) !== undefined);
}

function memberOf(value: object, key: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[key];
}
