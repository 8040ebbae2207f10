import { nearestName } from '../base/nearest-name.ts';
import { schemasAt } from './schema-places.ts';
import {
  type FoundIssue,
  noSuchMember,
  type ValidationIssue,
  valueAt,
} from './validation-issue.ts';

/**
 * Adds to the issues of a value the nearest name or value that the schema has in that place.
 * @param schema JSON Schema; called when an issue may have such a hint
 */
export function withHints(
  issues: readonly FoundIssue[],
  value: unknown,
  schema: () => object | undefined,
): readonly ValidationIssue[] {
  let read: { readonly schema: object | undefined } | undefined;
  const places = (segments: FoundIssue['segments']) => {
    read ??= { schema: schema() };
    return schemasAt(read.schema, segments);
  };
  return issues.map((issue) => {
    const { path, came, expected } = issue;
    const hint = hintFor(issue, issues, value, places);
    return { path, came, expected: hint === undefined ? expected : `${expected} (${hint})` };
  });
}

function hintFor(
  { segments, expected }: FoundIssue,
  issues: readonly FoundIssue[],
  value: unknown,
  places: (segments: FoundIssue['segments']) => readonly object[],
): string | undefined {
  const own = segments.at(-1);
  const above = segments.slice(0, -1);
  const came = valueAt(value, segments);
  if (typeof own === 'string' && expected === noSuchMember)
    return meant(nearestName(own, membersOf(places(above))));
  if (typeof came === 'string') return meant(nearestName(came, textsOf(places(segments))));
  if (typeof own !== 'string' || came !== undefined) return undefined;
  const isTold = issues.some(
    (issue) => issue.expected === noSuchMember && isIn(issue.segments, above),
  );
  if (isTold) return undefined;
  const known = new Set(membersOf(places(above)));
  const given = Object.keys(Object(valueAt(value, above))).filter((name) => !known.has(name));
  const written = nearestName(own, given);
  return written && `did you write ${JSON.stringify(written)} for it?`;
}

function meant(nearest: string | undefined): string | undefined {
  return nearest === undefined ? undefined : `did you mean ${JSON.stringify(nearest)}?`;
}

/** True for the path of a member of the object at `above`. */
function isIn(segments: FoundIssue['segments'], above: FoundIssue['segments']): boolean {
  return (
    segments.length === above.length + 1 && above.every((part, index) => segments[index] === part)
  );
}

function membersOf(schemas: readonly object[]): string[] {
  return schemas.flatMap((schema) => Object.keys(Object(valueAt(schema, ['properties']))));
}

/** The texts that are allowed by name in a place. */
function textsOf(schemas: readonly object[]): string[] {
  return schemas
    .flatMap((schema) => [valueAt(schema, ['enum']), valueAt(schema, ['const'])].flat())
    .filter((allowed) => typeof allowed === 'string');
}
