import { nearestName } from '../base/nearest-name.ts';
import type { Tool } from './tool-definition.ts';
import type { ValidationFailure } from './validate.ts';
import { withHints } from './validation-hints.ts';
import {
  describeValue,
  explainIssues,
  type FoundIssue,
  jsonPath,
  noSuchMember,
} from './validation-issue.ts';

type Members = Readonly<Record<string, unknown>>;

/** Keywords by which a schema itself says what other members an object may have. */
const aboutOthers: ReadonlySet<string> = new Set([
  'additionalProperties',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  '$ref',
]);

/**
 * Finds optional arguments of a call that are misspelled. They fit a schema that says nothing about
 * other members, and the tool would run without them.
 */
export function misspelledArgs(tool: Tool, args: unknown): ValidationFailure | undefined {
  const found = misspelledIn(tool.inputSchema, args, []);
  if (found.length === 0) return undefined;
  const issues = withHints(found, args, () => tool.inputSchema);
  const subject = `The arguments of "${tool.name}" do not fit. Correct these and call it again`;
  return { ok: false, message: explainIssues(subject, issues), issues };
}

function misspelledIn(
  schema: unknown,
  value: unknown,
  segments: FoundIssue['segments'],
): readonly FoundIssue[] {
  if (!isMembers(schema) || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    const { items } = schema;
    return value.flatMap((item, index) => misspelledIn(items, item, [...segments, index]));
  }
  const { properties } = schema;
  if (!isMembers(properties)) return [];
  const isOpen = !Object.keys(schema).some((keyword) => aboutOthers.has(keyword));
  const given = value as Members;
  return Object.keys(given).flatMap((name) => {
    const path = [...segments, name];
    if (Object.hasOwn(properties, name)) return misspelledIn(properties[name], given[name], path);
    if (!isOpen) return [];
    const unset = Object.keys(properties).filter((known) => !Object.hasOwn(given, known));
    if (nearestName(name, unset) === undefined) return [];
    const came = describeValue(given[name]);
    return [{ path: jsonPath(path), came, expected: noSuchMember, segments: path }];
  });
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
