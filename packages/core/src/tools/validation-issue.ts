import type { StandardSchemaV1 } from '@standard-schema/spec';

/** One issue of a value. */
export interface ValidationIssue {
  /** Path of the issue, like `$.items[2].price`. */
  readonly path: string;
  /** The value at the path: kind and shortened value. */
  readonly came: string;
  readonly expected: string;
}

type Segments = readonly PropertyKey[];

/** An issue with the path in parts, as it was found. */
export interface FoundIssue extends ValidationIssue {
  readonly segments: Segments;
}

/** Expectation of a member that the schema does not have. */
export const noSuchMember = 'no member of this name';

const plainKey = /^[A-Za-z_$][\w$]*$/;

/** A path into a JSON value: `$.items[2]["unit price"]`. */
export function jsonPath(segments: Segments): string {
  let path = '$';
  for (const segment of segments) {
    if (typeof segment === 'number') path += `[${segment}]`;
    else
      path += plainKey.test(String(segment))
        ? `.${String(segment)}`
        : `[${JSON.stringify(String(segment))}]`;
  }
  return path;
}

/** Returns kind and shortened value, as a person would say it. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'string') return `the string ${JSON.stringify(shortened(value))}`;
  if (Array.isArray(value))
    return value.length === 0 ? 'an empty array' : `an array of ${value.length}`;
  if (typeof value === 'object') return describeKeys(Object.keys(value));
  return `the ${typeof value} ${shortened(String(value))}`;
}

function describeKeys(keys: readonly string[]): string {
  if (keys.length === 0) return 'an empty object';
  return `an object with ${shortened(keys.slice(0, 5).join(', '))}${keys.length > 5 ? ', …' : ''}`;
}

function shortened(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}

/** Returns the value at a path, or `undefined`; own members only. */
export function valueAt(value: unknown, segments: Segments): unknown {
  let found = value;
  for (const segment of segments) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, segment))
      return undefined;
    found = (found as Record<PropertyKey, unknown>)[segment];
  }
  return found;
}

/**
 * Members with which zod says more than the standard asks for. Other libraries may have some of
 * them.
 */
interface DetailedIssue extends StandardSchemaV1.Issue {
  readonly code?: unknown;
  readonly expected?: unknown;
  readonly values?: unknown;
  readonly keys?: unknown;
  readonly format?: unknown;
  readonly errors?: unknown;
}

/**
 * Returns an issue of a schema library in the words of this package; for several unknown members,
 * one issue each.
 */
export function fromStandardIssue(
  issue: StandardSchemaV1.Issue,
  value: unknown,
): readonly FoundIssue[] {
  const segments = (issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part));
  const { code, keys }: DetailedIssue = issue;
  if (code === 'unrecognized_keys' && Array.isArray(keys)) {
    return keys.map((key: unknown) => issueAt([...segments, String(key)], value, noSuchMember));
  }
  return [issueAt(segments, value, expectedBy(issue, 0))];
}

function issueAt(segments: Segments, value: unknown, expected: string): FoundIssue {
  const came = describeValue(valueAt(value, segments));
  return { path: jsonPath(segments), came, expected, segments };
}

const deepestUnion = 2;

function expectedBy(issue: DetailedIssue, depth: number): string {
  const { code, expected, values, format, errors, message } = issue;
  if (typeof expected === 'string')
    return expected === 'int' ? 'a whole number' : withArticle(expected);
  if (code === 'invalid_value' && Array.isArray(values)) return oneOf(values);
  if (code === 'invalid_union' && Array.isArray(errors) && depth < deepestUnion)
    return eitherOf(errors, depth) ?? message;
  if (code === 'invalid_format' && typeof format === 'string' && format !== 'regex')
    return `a string that is a valid ${format}`;
  return requirementIn(message);
}

/**
 * Returns the requirement in the message of a library, as it follows "expected" and "must be":
 * "must be a string" of ArkType, "Expected string but received 5" of Valibot.
 */
function requirementIn(message: string): string {
  const [, required] =
    /expected (.+?)(?:,? (?:but )?received .*)?$/i.exec(message) ??
    /\bmust be (.+?)(?: \(was .*\))?$/i.exec(message) ??
    [];
  return required ?? message;
}

function eitherOf(branches: readonly unknown[], depth: number): string | undefined {
  const wanted = branches.flatMap((branch) =>
    Array.isArray(branch) && branch.length > 0
      ? [expectedInBranch(branch[0] as DetailedIssue, depth)]
      : [],
  );
  return wanted.length === 0 ? undefined : [...new Set(wanted)].join(' or ');
}

function expectedInBranch(issue: DetailedIssue, depth: number): string {
  const path = (issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part));
  const expected = expectedBy(issue, depth + 1);
  return path.length === 0 ? expected : `an object whose ${jsonPath(path).slice(2)} is ${expected}`;
}

export function oneOf(values: readonly unknown[]): string {
  const shown = values.slice(0, 20).map((value) => JSON.stringify(value) ?? String(value));
  if (shown.length === 1) return shown[0] ?? '';
  return `one of ${shown.join(', ')}${values.length > shown.length ? ', …' : ''}`;
}

export function withArticle(kind: string): string {
  if (kind === 'null' || kind === 'undefined' || kind === 'never' || kind === 'nan') return kind;
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}

const mostIssuesTold = 10;

/** Describes the issues without any of the values. */
export function explainPlaces(issues: readonly ValidationIssue[]): string {
  const told = issues
    .slice(0, mostIssuesTold)
    .map(({ path, expected }) => `${path} must be ${expected}`);
  const more = issues.length - told.length;
  return `${told.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

/** Describes to a model the issues and how to go on. */
export function explainIssues(subject: string, issues: readonly ValidationIssue[]): string {
  const told = issues
    .slice(0, mostIssuesTold)
    .map(({ path, came, expected }) => `- ${path}: came ${came}, expected ${expected}`);
  const more = issues.length > told.length ? `\n- and ${issues.length - told.length} more` : '';
  return `${subject}:\n${told.join('\n')}${more}`;
}
