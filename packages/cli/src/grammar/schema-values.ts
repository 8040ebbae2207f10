import type { JsonObject, JsonValue } from 'adjutant';

/** Checks whether the type of a value is one that a JSON Schema takes; the rest is not checked. */
export function takesType(schema: JsonObject, value: JsonValue): boolean {
  const { const: only, enum: choices, type } = schema;
  if (only !== undefined) return isEqual(only, value);
  if (Array.isArray(choices)) return choices.some((choice) => isEqual(choice, value));
  const parts = alternatives(schema);
  if (parts !== undefined) return parts.some((part) => takesType(part, value));
  const types = type === undefined ? [] : [type].flat();
  return types.length === 0 || types.some((name) => isOfType(name, value));
}

/** Checks whether a JSON Schema takes texts, whichever these are. */
export function takesTexts(schema: JsonObject): boolean {
  const choices = choicesOf(schema);
  if (choices !== undefined) return choices.some((choice) => typeof choice === 'string');
  return alternatives(schema)?.some(takesTexts) ?? takesType(schema, '');
}

/** The values that a JSON Schema lists; `undefined` when it does not list them. */
export function choicesOf(schema: JsonObject): readonly JsonValue[] | undefined {
  const { const: only, enum: choices, type } = schema;
  if (only !== undefined) return [only];
  if (Array.isArray(choices)) return choices;
  return type === 'boolean' ? [true, false] : undefined;
}

/** Makes a value of the form that a JSON Schema describes; texts are dots. */
export function exampleOf(schema: JsonObject): JsonValue {
  const { default: usual, examples } = schema;
  const given = choicesOf(schema)?.[0] ?? usual ?? (examples as JsonValue[] | undefined)?.[0];
  if (given !== undefined) return given;
  const [first] = alternatives(schema) ?? [];
  if (first !== undefined) return exampleOf(first);
  switch ([schema['type']].flat()[0]) {
    case 'string':
      return textExample(schema);
    case 'integer':
    case 'number':
      return numberExample(schema);
    case 'array':
      return arrayExample(schema);
    case 'null':
      return null;
    case 'object':
      return objectExample(schema);
    default:
      return schema['properties'] === undefined ? '…' : objectExample(schema);
  }
}

function alternatives({ anyOf, oneOf }: JsonObject): readonly JsonObject[] | undefined {
  const parts = anyOf ?? oneOf;
  return Array.isArray(parts) ? (parts as JsonObject[]) : undefined;
}

function isEqual(one: JsonValue, other: JsonValue): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function isOfType(type: JsonValue, value: JsonValue): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** Texts of the formats that people type. */
const formats: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  email: 'name@example.com',
  time: '12:00:00',
  uri: 'https://example.com',
};
const longestDots = 20;

function textExample({ format, minLength }: JsonObject): string {
  const length = typeof minLength === 'number' ? Math.min(minLength, longestDots) : 1;
  return formats[String(format)] ?? '…'.repeat(Math.max(1, length));
}

function numberExample({ minimum, exclusiveMinimum, maximum }: JsonObject): number {
  const least =
    typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : ((minimum as number) ?? 1);
  return Math.min(Math.max(1, least), typeof maximum === 'number' ? maximum : least);
}

function arrayExample({ items }: JsonObject): JsonValue[] {
  const isSchema = typeof items === 'object' && items !== null && !Array.isArray(items);
  return isSchema ? [exampleOf(items as JsonObject)] : [];
}

/** The members that must be there; all of them when none must be. */
function objectExample({ properties = {}, required }: JsonObject): JsonObject {
  const members = properties as Readonly<Record<string, JsonObject>>;
  const names = Array.isArray(required) && required.length > 0 ? required : Object.keys(members);
  return Object.fromEntries(
    (names as string[]).map((name) => [name, exampleOf(members[name] ?? {})]),
  );
}
