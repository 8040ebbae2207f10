import type { JsonObject, JsonValue } from 'adjutant';
import { checkField, type FieldCheck, isLeftEmpty, type Typed } from './check-field.ts';
import { type Field, type Form, fieldsOf, keyOf } from './field.ts';

/** What was typed into the fields of a form, by their keys (`keyOf`). */
export type TypedForm = ReadonlyMap<string, Typed>;

/** Value of a form; or the faults, by the keys of their fields. */
export type FormCheck =
  | { readonly isWhole: true; readonly value: JsonValue }
  | { readonly isWhole: false; readonly problems: ReadonlyMap<string, string> };

/** Returns what stands in the fields at first: values that are given, or those of the schema. */
export function firstTyped(form: Form, given?: JsonValue): TypedForm {
  return new Map(
    fieldsOf(form).map((field) => {
      const value = given === undefined ? undefined : valueAt(given, field.path);
      return [keyOf(field), typedOf(field, value ?? firstValue(field, given))];
    }),
  );
}

/** Checks a form whole. An optional object whose fields are empty is left out. */
export function checkForm(form: Form, typed: TypedForm): FormCheck {
  const problems = new Map<string, string>();
  const fields = fieldsOf(form);
  const isFilled = (path: readonly string[]): boolean =>
    fields.some(
      (field) => startsWith(field.path, path) && !isLeftEmpty(field, typed.get(keyOf(field))),
    );
  const absent = form.parts.filter(
    (part) => part.kind === 'heading' && !part.isRequired && !isFilled(part.path),
  );
  let root: JsonValue = fields[0]?.path.length === 0 ? null : {};
  for (const part of form.parts) {
    if (absent.some(({ path }) => startsWith(part.path, path))) continue;
    const check: FieldCheck =
      part.kind === 'heading' ? { value: {} } : checkField(part, typed.get(keyOf(part)));
    if (check.problem !== undefined) problems.set(keyOf(part), check.problem);
    else if (part.path.length === 0) root = check.value ?? null;
    else if (check.value !== undefined) place(root as JsonObject, part.path, check.value);
  }
  return problems.size > 0 ? { isWhole: false, problems } : { isWhole: true, value: root };
}

/** Returns the value of a form as far as it goes, for the editor: without what has a fault. */
export function partialValue(form: Form, typed: TypedForm): JsonValue {
  const check = checkForm(form, typed);
  if (check.isWhole) return check.value;
  const { problems } = check;
  const parts = form.parts
    .filter((part) => !problems.has(keyOf(part)))
    .map((part) => ({ ...part, isRequired: part.kind === 'heading' && part.isRequired }));
  const rest = checkForm({ parts } as Form, typed);
  return rest.isWhole ? rest.value : {};
}

function firstValue(field: Field, given: JsonValue | undefined): JsonValue | undefined {
  if (given !== undefined) return undefined;
  const { default: usual, const: only } = field.schema;
  return usual ?? only;
}

/** A value as it would have been typed. */
function typedOf(field: Field, value: JsonValue | undefined): Typed {
  if (value === undefined || value === null) return undefined;
  const placeOf = (one: JsonValue): number[] => {
    if (field.kind !== 'choice' && field.kind !== 'choices') return [];
    const at = field.choices.findIndex((each) => isSame(each.value, one));
    return at === -1 ? [] : [at];
  };
  switch (field.kind) {
    case 'boolean':
      return value === true;
    case 'choice':
      return placeOf(value)[0];
    case 'choices':
      return Array.isArray(value) ? value.flatMap(placeOf) : [];
    case 'list':
      return Array.isArray(value) ? value.map(asText).join('\n') : asText(value);
    case 'json':
      return JSON.stringify(value, undefined, 2);
    default:
      return asText(value);
  }
}

function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((name, at) => path[at] === name);
}

function valueAt(value: JsonValue, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? (inner as JsonObject)[name]
        : undefined,
    value,
  );
}

/** Puts a value at its place; the objects that lead there have been put before. */
function place(root: JsonObject, path: readonly string[], value: JsonValue): void {
  let object = root as Record<string, JsonValue>;
  for (const [at, name] of path.entries()) {
    const isLast = at === path.length - 1;
    if (!isLast && Object.hasOwn(object, name)) {
      object = object[name] as Record<string, JsonValue>;
      continue;
    }
    const inner = isLast ? value : {};
    // A member may be called `__proto__`.
    Object.defineProperty(object, name, {
      value: inner,
      configurable: true,
      enumerable: true,
      writable: true,
    });
    object = inner as Record<string, JsonValue>;
  }
}
