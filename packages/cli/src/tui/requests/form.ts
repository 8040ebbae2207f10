import type { JsonObject, JsonValue } from 'adjutant';
import { defined } from 'adjutant/text';
import type { Choice, Field, FieldKind, Form, FormPart, TextFormat } from './field.ts';

const mostRadios = 5;
const longText = 200;
const deepestObject = 2;
const formats: ReadonlySet<JsonValue | undefined> = new Set(['date', 'date-time', 'email', 'uri']);

/** Returns the form for a value that a JSON Schema describes. */
export function formOf(schema: JsonObject): Form {
  const root = plainSchema(schema, schema);
  if (isObjectOfFields(root)) return { parts: membersOf(root, [], 0, schema) };
  const label = textIn(schema, 'title') ?? 'Answer';
  return { parts: [fieldOf(schema, schema, { path: [], label, isRequired: true })] };
}

function membersOf(
  object: JsonObject,
  path: readonly string[],
  depth: number,
  root: JsonObject,
): FormPart[] {
  const required = Array.isArray(object['required']) ? object['required'] : [];
  return Object.entries(object['properties'] as JsonObject).flatMap(([name, value]): FormPart[] => {
    const member = isObject(value) ? value : {};
    const place = {
      path: [...path, name],
      label: textIn(member, 'title') ?? name,
      isRequired: required.includes(name),
    };
    const plain = plainSchema(member, root);
    if (!isObjectOfFields(plain) || depth >= deepestObject || takesNull(member))
      return [fieldOf(member, root, place)];
    const description = textIn(member, 'description') ?? textIn(plain, 'description');
    const heading = { kind: 'heading' as const, ...place, ...defined({ description }) };
    return [heading, ...membersOf(plain, place.path, depth + 1, root)];
  });
}

type Place = Pick<Field, 'path' | 'label' | 'isRequired'>;

function fieldOf(given: JsonObject, root: JsonObject, place: Place): Field {
  const schema = plainSchema(given, root);
  const description = textIn(given, 'description') ?? textIn(schema, 'description');
  const usual = given['default'];
  return {
    ...kindOf(schema, root),
    ...place,
    ...defined({ description }),
    takesNull: takesNull(given) || takesNull(schema),
    schema: usual === undefined ? schema : { ...schema, default: usual },
  };
}

function kindOf(schema: JsonObject, root: JsonObject): FieldKind {
  const choices = choicesOf(schema);
  if (choices !== undefined)
    return { kind: 'choice', choices, isPopup: choices.length > mostRadios };
  switch (typeOf(schema)) {
    case 'boolean':
      return { kind: 'boolean' };
    case 'number':
    case 'integer':
      return { kind: 'number', isInteger: typeOf(schema) === 'integer' };
    case 'string':
      return textKind(schema);
    case 'array':
      return arrayKind(schema, root);
    default:
      return { kind: 'json' };
  }
}

function textKind({ format, maxLength, writeOnly }: JsonObject): FieldKind {
  return {
    kind: 'text',
    ...(formats.has(format) ? { format: format as TextFormat } : {}),
    isLong: format === 'textarea' || (typeof maxLength === 'number' && maxLength > longText),
    isSecret: writeOnly === true || format === 'password',
  };
}

function arrayKind({ items }: JsonObject, root: JsonObject): FieldKind {
  if (!isObject(items)) return { kind: 'json' };
  const item = plainSchema(items, root);
  const choices = choicesOf(item);
  if (choices !== undefined) return { kind: 'choices', choices };
  const type = takesNull(item) ? undefined : typeOf(item);
  if (type === 'string') return { kind: 'list', of: 'text' };
  return type === 'number' || type === 'integer' ? { kind: 'list', of: type } : { kind: 'json' };
}

/** The values that a schema lists, with their titles. */
function choicesOf(schema: JsonObject): readonly Choice[] | undefined {
  const { const: only, enum: listed } = schema;
  if (only !== undefined) return [choice(only)];
  if (Array.isArray(listed))
    return listed
      .filter((value) => value !== null || listed.length === 1)
      .map((value) => choice(value));
  const parts = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(parts) || parts.length === 0) return undefined;
  if (!parts.every((part) => isObject(part) && part['const'] !== undefined)) return undefined;
  return (parts as JsonObject[]).map((part) =>
    choice(part['const'] as JsonValue, textIn(part, 'title')),
  );
}

function choice(value: JsonValue, title?: string): Choice {
  return { value, label: title ?? (typeof value === 'string' ? value : JSON.stringify(value)) };
}

/** The schema behind references, and without the alternative `null`. */
function plainSchema(schema: JsonObject, root: JsonObject, depth = 0): JsonObject {
  const { $ref } = schema;
  const parts = schema['anyOf'] ?? schema['oneOf'];
  if (depth > 8) return {};
  if (typeof $ref === 'string') return plainSchema(referred($ref, root), root, depth + 1);
  if (!Array.isArray(parts)) return schema;
  const [only, ...more] = parts.filter((part) => !isNullSchema(part));
  if (!isObject(only) || more.length > 0 || parts.length === 1) return schema;
  return plainSchema(only, root, depth + 1);
}

function referred(reference: string, root: JsonObject): JsonObject {
  if (!reference.startsWith('#/')) return {};
  const names = reference.slice(2).split('/');
  const found = names
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<JsonValue | undefined>(
      (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      root,
    );
  return isObject(found) ? found : {};
}

function isNullSchema(schema: JsonValue | undefined): boolean {
  return isObject(schema) && (schema['type'] === 'null' || schema['const'] === null);
}

function takesNull(schema: JsonObject): boolean {
  const { type, enum: listed } = schema;
  const parts = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(type) && type.includes('null')) return true;
  if (Array.isArray(listed) && listed.length > 1 && listed.includes(null)) return true;
  return Array.isArray(parts) && parts.some(isNullSchema);
}

function typeOf({ type }: JsonObject): JsonValue | undefined {
  if (!Array.isArray(type)) return type;
  const [only, ...more] = type.filter((name) => name !== 'null');
  return more.length === 0 ? only : undefined;
}

/** Checks whether an object has members of its own names, and no alternatives. */
function isObjectOfFields(schema: JsonObject): boolean {
  const { properties, anyOf, oneOf, allOf } = schema;
  if (anyOf !== undefined || oneOf !== undefined || allOf !== undefined) return false;
  return isObject(properties) && Object.keys(properties).length > 0;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textIn(schema: JsonObject, name: 'title' | 'description'): string | undefined {
  const text = schema[name];
  return typeof text === 'string' && text.trim() !== '' ? text : undefined;
}
