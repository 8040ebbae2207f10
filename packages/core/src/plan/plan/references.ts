import { isPlainObject, type JsonObject, type JsonValue } from '../../base/json.ts';

/** Reference in the arguments of a subtask to the output of another one. */
export interface Reference {
  /** The reference as it is written: `t1.output.total`. */
  readonly text: string;
  /** Id of the subtask that it names. */
  readonly id: string;
  /** Names and indexes below the output. */
  readonly path: readonly string[];
}

const referencePattern = /^([A-Za-z0-9_-]{1,64})\.output((?:\.[^.]{1,200}){0,20})$/;

/** Most levels of arguments that are searched. */
export const deepestArgs = 20;

/** True for `{ "$from": … }`, the only form of a reference. */
function isReference(value: JsonValue): value is JsonObject {
  return isPlainObject(value) && '$from' in value;
}

function membersOf(value: object): readonly (readonly [string, JsonValue])[] {
  return Object.entries(value as Readonly<Record<string, JsonValue>>);
}

/** Reads a reference; `undefined` when it is none. */
function parseReference(value: JsonObject): Reference | undefined {
  const text = value['$from'];
  const parsed = typeof text === 'string' ? referencePattern.exec(text) : null;
  if (typeof text !== 'string' || parsed === null || Object.keys(value).length > 1)
    return undefined;
  const [, id = '', below = ''] = parsed;
  return { text, id, path: below === '' ? [] : below.slice(1).split('.') };
}

/** Returns the references in arguments, and the places of values that only look like one. */
export function referencesIn(args: JsonValue): {
  readonly references: readonly Reference[];
  readonly malformed: readonly string[];
} {
  const references: Reference[] = [];
  const malformed: string[] = [];
  const search = (value: JsonValue, place: string): void => {
    if (isReference(value)) {
      const found = parseReference(value);
      if (found === undefined) malformed.push(place);
      else references.push(found);
    } else if (Array.isArray(value))
      for (const [i, part] of value.entries()) search(part, `${place}[${i}]`);
    else if (isPlainObject(value))
      for (const [key, part] of membersOf(value)) search(part, `${place}.${key}`);
  };
  search(args, 'args');
  return { references, malformed };
}

/**
 * Puts results in the place of references, in one pass: a reference within a result is data.
 * @returns the arguments, or the first reference that does not resolve
 */
export function resolveReferences(
  template: JsonObject,
  outputOf: (id: string) => JsonValue | undefined,
): { readonly args: JsonObject } | { readonly unresolved: string } {
  let unresolved: string | undefined;
  const resolved = (value: JsonValue): JsonValue => {
    if (isReference(value)) {
      const reference = parseReference(value);
      const found = reference === undefined ? undefined : valueAt(reference, outputOf);
      if (found === undefined) unresolved ??= reference?.text ?? JSON.stringify(value);
      return found ?? null;
    }
    if (Array.isArray(value)) return value.map(resolved);
    if (!isPlainObject(value)) return value;
    return Object.fromEntries(membersOf(value).map(([key, part]) => [key, resolved(part)]));
  };
  const args = resolved(template) as JsonObject;
  return unresolved === undefined ? { args } : { unresolved };
}

function valueAt(
  { id, path }: Reference,
  outputOf: (id: string) => JsonValue | undefined,
): JsonValue | undefined {
  let value = outputOf(id);
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
      return undefined;
    value = (value as Readonly<Record<string, JsonValue>>)[name];
  }
  return value;
}
