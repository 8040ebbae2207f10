import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { deepFreeze, type JsonObject } from './json.ts';
import { describeValue, type OptionCheck } from './options.ts';

/**
 * A schema of any library that implements Standard Schema and gives JSON Schema (zod 4.2 and later
 * does), or JSON Schema itself.
 */
export type AnySchema<Value = unknown> = StandardSchemaV1<unknown, Value> | JsonObject;

/** True when a schema is one of a schema library rather than plain JSON Schema. */
export function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  return (
    (typeof schema === 'object' || typeof schema === 'function') &&
    schema !== null &&
    '~standard' in schema
  );
}

/**
 * Returns JSON Schema of the input of a schema, as a frozen copy, or the reason why there is none.
 * The schema of a library gives draft 07.
 */
export function jsonSchemaOf(
  schema: unknown,
): { readonly schema: JsonObject } | { readonly reason: string } {
  const written = isStandardSchema(schema) ? converted(schema) : { schema };
  if ('reason' in written) return written;
  if (
    typeof written.schema !== 'object' ||
    written.schema === null ||
    Array.isArray(written.schema)
  ) {
    return { reason: 'must be a Standard Schema (such as z.object({…})) or a JSON Schema object' };
  }
  const method = methodOf(written.schema);
  if (method !== undefined)
    return {
      reason:
        `is an object of a schema library of an unknown kind (it has \`${method}\`, and no ` +
        '`~standard`). It must be a Standard Schema that gives JSON Schema, such as one of zod ' +
        '4.2 or later, or a JSON Schema object',
    };
  const strange = strangeKeyword(written.schema);
  if (strange !== undefined) return { reason: `is not JSON Schema: ${strange}` };
  const inner = pathOfInner(written.schema, []);
  if (inner !== undefined) return { reason: reasonOfInner(written.schema, inner) };
  try {
    return { schema: deepFreeze(structuredClone(written.schema) as JsonObject) };
  } catch (cause) {
    return { reason: `is not JSON Schema: ${(cause as Error).message.replace(/\.$/, '')}` };
  }
}

const schemaTypes: ReadonlySet<unknown> = new Set([
  'object',
  'array',
  'string',
  'number',
  'integer',
  'boolean',
  'null',
]);

/** The most frequent mistake for JSON Schema: the names of fields with their types. */
function strangeKeyword(schema: object): string | undefined {
  const { type } = schema as { readonly type?: unknown };
  const unknown = [type].flat().find((one) => one !== undefined && !schemaTypes.has(one));
  if (unknown !== undefined)
    return (
      `there is no \`type\` ${describeValue(unknown)} (the types are ` +
      `${[...schemaTypes].join(', ')})`
    );
  const values = Object.values(schema);
  const isFields =
    values.length > 0 && values.every((value) => schemaTypes.has(value) || isTyped(value));
  return isFields && type === undefined && !hasKeyword(schema)
    ? "fields belong into { type: 'object', properties: { name: { type: 'string' } } }"
    : undefined;
}

function isTyped(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !isStandardSchema(value) &&
    schemaTypes.has((value as { readonly type?: unknown }).type)
  );
}

/** Keywords whose value is an object that may itself have a `type`. */
const keywords: readonly string[] = [
  'additionalProperties',
  'contains',
  'default',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
];

function hasKeyword(schema: object): boolean {
  return keywords.some((keyword) => Object.hasOwn(schema, keyword));
}

/** Names of the members that lead to a schema of a library; `undefined` when there is none. */
function pathOfInner(value: unknown, path: readonly string[]): readonly string[] | undefined {
  if (typeof value !== 'object' || value === null || path.length > deepestInner) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const here = [...path, name];
    if (isStandardSchema(member)) return here;
    const found = pathOfInner(member, here);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Depth to which JSON Schema is searched for schemas of a library. */
const deepestInner = 8;

/** The fields of other SDKs, `{ city: z.string() }`, or JSON Schema that is not all JSON. */
function reasonOfInner(schema: object, path: readonly string[]): string {
  const fields = Object.entries(schema);
  if (path.length > 1 || fields.some(([, value]) => !isStandardSchema(value)))
    return (
      `has a schema of a library in it, at \`${path.join('.')}\`: write all of it as ` +
      'z.object({ … }), or all of it as JSON Schema'
    );
  const shown = fields.slice(0, mostFields).map(([name]) => `${name}: …`);
  const more = fields.length > shown.length ? ', …' : '';
  return `is a plain object with schemas in it: write z.object({ ${shown.join(', ')}${more} })`;
}

/** Most fields that a message shows. */
const mostFields = 4;

/**
 * Makes the check of a schema that a definition was given: one who spreads the definition may not
 * put another in its place.
 * @param option name of the option that takes a new schema
 */
export function isConvertedSchema(option: string): OptionCheck {
  return (value) =>
    Object.isFrozen(value) && !isStandardSchema(value)
      ? undefined
      : `the one that the spread definition has (a new schema goes into \`${option}\`)`;
}

function converted(
  schema: StandardSchemaV1,
): { readonly schema: unknown } | { readonly reason: string } {
  const standard: StandardSchemaV1.Props & {
    readonly jsonSchema?: StandardJSONSchemaV1.Converter;
  } = schema['~standard'];
  if (standard.jsonSchema === undefined) return { reason: withoutJsonSchema(schema) };
  try {
    return { schema: standard.jsonSchema.input({ target: 'draft-07' }) };
  } catch (cause) {
    return { reason: `cannot be written as JSON Schema: ${(cause as Error).message}` };
  }
}

/** Tells why a schema of a library gives no JSON Schema, and what to install or pass instead. */
function withoutJsonSchema(schema: StandardSchemaV1): string {
  const { vendor } = schema['~standard'];
  if (vendor !== 'zod')
    return (
      `(of ${vendor}) cannot give a JSON Schema; use a library that implements Standard JSON ` +
      'Schema, such as zod 4.2 or later, or pass a JSON Schema object'
    );
  const { version } = (schema as { readonly _zod?: { readonly version?: ZodVersion } })._zod ?? {};
  if (version === undefined)
    return (
      'is a schema of zod 3, which cannot give a JSON Schema: install zod 4.2 or later ' +
      '(npm install zod@4), or pass a JSON Schema object'
    );
  return (
    `is a schema of zod ${version.major}.${version.minor} (zod/v4 of zod 3.25), which gives ` +
    'a JSON Schema on request only: install zod 4.2 or later (npm install zod@4), or pass ' +
    'z.toJSONSchema(schema)'
  );
}

interface ZodVersion {
  readonly major: number;
  readonly minor: number;
}

/** Methods by which objects of schema libraries are known, also those of a prototype. */
const schemaMethods: readonly string[] = [
  'parse',
  'safeParse',
  'parseAsync',
  'validate',
  'validateSync',
  'validateAsync',
  'decode',
  'check',
  'refine',
];

/** Returns the name of the method that shows an object to be of a schema library. */
function methodOf(schema: object): string | undefined {
  return schemaMethods.find(
    (name) => typeof (schema as Readonly<Record<string, unknown>>)[name] === 'function',
  );
}
