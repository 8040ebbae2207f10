import { isPlainObject, type JsonValue } from '../../base/json.ts';
import { describeValue } from '../../base/options.ts';
import type { ValuePattern } from './eval-case.ts';
import type { Place } from './place.ts';

/** A regular expression as files write it. */
interface WrittenExpression {
  readonly $regex: string;
  readonly $flags?: string;
}

function isWrittenExpression(pattern: object): pattern is WrittenExpression {
  return Object.hasOwn(pattern, '$regex');
}

function isAnyValue(pattern: object): boolean {
  return Object.hasOwn(pattern, '$any');
}

const deepest = 100;

/**
 * The pattern at a place of a document. @throws InvalidDatasetError when it can match nothing or is
 * none
 */
export function readPattern(place: Place, depth = 0): ValuePattern {
  const { value } = place;
  if (depth > deepest) return place.refuse(`it is nested more than ${deepest} deep`);
  if (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    value instanceof RegExp
  )
    return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value)) {
    for (const part of place.list()) readPattern(part, depth + 1);
    return value;
  }
  if (!isPlainObject(value))
    return place.refuse(
      `a value, a pattern or a regular expression is expected, not ${describeValue(value)}`,
    );
  if (isWrittenExpression(value)) checkWritten(place);
  else if (isAnyValue(value)) checkAny(place);
  else
    for (const name of Object.keys(value))
      if (value[name] !== undefined) readPattern(place.member(name), depth + 1);
  return value as ValuePattern;
}

function checkWritten(place: Place): void {
  place.only(['$regex', '$flags']);
  readExpression(place.member('$regex'), place.member('$flags'));
}

function checkAny(place: Place): void {
  place.only(['$any']);
  if (place.member('$any').value !== true) place.refuse('`$any` must be true');
}

/** The regular expression that a source and flags make. @throws InvalidDatasetError */
export function readExpression(source: Place, flags: Place): RegExp {
  try {
    return new RegExp(source.text(), flags.isGiven ? flags.text() : '');
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return source.refuse(
      `${describeValue(source.value)} is not a regular expression: ${error.message}`,
    );
  }
}

/** Checks that a regular expression matches. Its `lastIndex` from earlier texts is ignored. */
export function expressionMatches(expression: RegExp, text: string): boolean {
  return new RegExp(expression.source, expression.flags.replace(/[gy]/g, '')).test(text);
}

/**
 * Comparison with the pattern: `exact`, or `partial`, where objects may have more members than the
 * pattern.
 */
export type PatternMatch = 'exact' | 'partial';

/** Where a value does not fit a pattern, as a sentence; `undefined` when it fits. */
export function patternMismatch(
  pattern: ValuePattern | undefined,
  value: JsonValue | undefined,
  match: PatternMatch,
  path = '',
): string | undefined {
  const at = path === '' ? '' : `${path}: `;
  if (pattern instanceof RegExp) return expressionMismatch(pattern, value, at);
  if (Array.isArray(pattern)) return listMismatch(pattern, value, match, path);
  if (typeof pattern !== 'object' || pattern === null) {
    return pattern === value
      ? undefined
      : `${at}${shown(value)} instead of ${shown(pattern as JsonValue)}`;
  }
  if (isWrittenExpression(pattern))
    return expressionMismatch(new RegExp(pattern.$regex, pattern.$flags ?? ''), value, at);
  if (isAnyValue(pattern)) return value === undefined ? `${at}it is missing` : undefined;
  return objectMismatch(
    pattern as { readonly [key: string]: ValuePattern | undefined },
    value,
    match,
    path,
  );
}

function expressionMismatch(
  expression: RegExp,
  value: JsonValue | undefined,
  at: string,
): string | undefined {
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return typeof text === 'string' && expressionMatches(expression, text)
    ? undefined
    : `${at}${shown(value)} does not match ${expression}`;
}

function listMismatch(
  pattern: readonly ValuePattern[],
  value: JsonValue | undefined,
  match: PatternMatch,
  path: string,
): string | undefined {
  const at = path === '' ? '' : `${path}: `;
  if (!Array.isArray(value)) return `${at}${shown(value)} instead of a list`;
  if (value.length !== pattern.length)
    return `${at}${value.length} parts instead of ${pattern.length}`;
  for (const [i, part] of pattern.entries()) {
    const mismatch = patternMismatch(part, value[i], match, `${path}[${i}]`);
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}

function objectMismatch(
  pattern: { readonly [key: string]: ValuePattern | undefined },
  value: JsonValue | undefined,
  match: PatternMatch,
  path: string,
): string | undefined {
  const at = path === '' ? '' : `${path}: `;
  if (!isPlainObject(value)) return `${at}${shown(value)} instead of an object`;
  const inside = (name: string): string => (path === '' ? name : `${path}.${name}`);
  for (const [name, part] of Object.entries(pattern)) {
    if (part === undefined) continue;
    const own = Object.hasOwn(value, name) ? (value[name] as JsonValue | undefined) : undefined;
    if (own === undefined) return `${inside(name)} is missing`;
    const mismatch = patternMismatch(part, own, match, inside(name));
    if (mismatch !== undefined) return mismatch;
  }
  if (match === 'partial') return undefined;
  const extra = Object.keys(value).find(
    (name) =>
      value[name] !== undefined && (!Object.hasOwn(pattern, name) || pattern[name] === undefined),
  );
  return extra === undefined
    ? undefined
    : `${inside(extra)} (${shown(value[extra] as JsonValue)}) is not expected`;
}

const longestShown = 80;

/** A value in a message, shortened. */
export function shown(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length <= longestShown ? text : `${text.slice(0, longestShown - 1)}…`;
}

/** A pattern in a message, shortened. */
export function shownPattern(pattern: ValuePattern | undefined): string {
  const readable = (part: unknown): unknown => {
    if (part instanceof RegExp) return String(part);
    if (Array.isArray(part)) return part.map(readable);
    if (typeof part !== 'object' || part === null) return part;
    if (isWrittenExpression(part)) return `/${part.$regex}/${part.$flags ?? ''}`;
    if (isAnyValue(part)) return '(anything)';
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, readable(inner)]));
  };
  return shown(readable(pattern) as JsonValue | undefined);
}
