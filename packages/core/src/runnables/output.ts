import type { StandardSchemaV1 } from '@standard-schema/spec';
import { defined } from '../base/defined.ts';
import { deepFreeze, isPlainObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { type AnySchema, isStandardSchema, jsonSchemaOf } from '../base/schema.ts';
import { InvalidDefinitionError } from './errors.ts';

declare const valueType: unique symbol;

/**
 * The form of an answer: plain text, one number, one of true and false, or JSON that the provider
 * is asked for.
 */
export type OutputForm = 'text' | 'number' | 'boolean' | 'json';

/**
 * The form and the place of an agent's answer. Made by `output`, or by `agent` from a key or a
 * schema.
 */
export interface AgentOutput<Value = unknown> {
  /** Key of the session state that the answer is written to. */
  readonly key: string | undefined;
  readonly form: OutputForm;
  /** Schema of the answer; missing for any text. */
  readonly schema: AnySchema | undefined;
  /** JSON Schema that the model is asked for; only of the form `json`. */
  readonly asked: JsonObject | undefined;
  /**
   * True when the model is asked for an object with the answer as `value`: providers accept only
   * objects.
   */
  readonly isWrapped: boolean;
  readonly [valueType]?: Value;
}

/**
 * The option `output` of an agent: a key of the session state for the text of the answer, a value
 * of `output`, or a schema.
 */
export type OutputOption = string | AgentOutput | AnySchema;

/** The type of the answer of an agent with this option. */
export type AnswerOf<Option> = Option extends string
  ? string
  : Option extends AgentOutput<infer Value>
    ? Value
    : Option extends StandardSchemaV1<unknown, infer Value>
      ? Value
      : JsonValue;

const made = new WeakSet<object>();

interface SessionSchemas {
  readonly session: { readonly [key: string]: StandardSchemaV1 };
}

/**
 * An answer that fits the schema of a key of the session state, and is written there.
 * @throws InvalidDefinitionError when there is no such key, or its schema gives no JSON Schema
 */
export function output<
  const Schema extends SessionSchemas,
  Key extends keyof Schema['session'] & string,
>(
  stateSchema: Schema,
  key: Key,
): AgentOutput<StandardSchemaV1.InferOutput<Schema['session'][Key]>> {
  const { session } = (stateSchema ?? {}) as Partial<Schema>;
  const schema = isPlainObject(session) && Object.hasOwn(session, key) ? session[key] : undefined;
  if (schema === undefined) {
    const known = Object.keys(session ?? {}).join(', ');
    throw new InvalidDefinitionError({
      kind: 'output',
      name: String(key),
      reason: `the schema of the session state has no such key (it has: ${known})`,
    });
  }
  return ofSchema({ kind: 'output', name: key }, schema, key) as AgentOutput<
    StandardSchemaV1.InferOutput<Schema['session'][Key]>
  >;
}

/** Keys that no state has room for: an answer could not be written there, after it was paid for. */
const reservedKeys: readonly unknown[] = ['temp', 'update', 'refresh'];

/** Requirement on an output: see `OutputOption`. */
export function isOutput(value: unknown): string | undefined {
  if (reservedKeys.includes(value))
    return "a key of the session state that is not reserved, as 'temp', 'update' and 'refresh' are";
  const isFit =
    (typeof value === 'string' && value !== '') || isStandardSchema(value) || isPlainObject(value);
  return isFit ? undefined : "a key of the session state, output(stateSchema, 'key') or a schema";
}

/** @throws InvalidDefinitionError when a schema cannot be used */
export function resolveOutput(
  name: string,
  option: OutputOption | undefined,
): AgentOutput | undefined {
  if (option === undefined) return undefined;
  if (typeof option === 'string')
    return remembered({
      key: option,
      form: 'text',
      schema: undefined,
      asked: undefined,
      isWrapped: false,
    });
  if (made.has(option)) return option as AgentOutput;
  return ofSchema({ kind: 'agent', name }, option as AnySchema, undefined);
}

function ofSchema(
  of: { readonly kind: string; readonly name: string },
  schema: AnySchema,
  key: string | undefined,
): AgentOutput {
  const converted = jsonSchemaOf(schema);
  if ('reason' in converted)
    throw new InvalidDefinitionError({
      ...of,
      reason: `the schema of its output ${converted.reason}`,
    });
  const form = formOf(converted.schema);
  // JSON Schema is kept as a frozen copy; its compiled form is remembered by that object.
  const kept = isStandardSchema(schema) ? schema : converted.schema;
  if (form !== 'json')
    return remembered({ key, form, schema: kept, asked: undefined, isWrapped: false });
  const isWrapped = converted.schema['type'] !== 'object';
  const asked = closed(isWrapped ? wrapped(converted.schema) : converted.schema) as JsonObject;
  return remembered({ key, form, schema: kept, asked: deepFreeze(asked), isWrapped });
}

function remembered(spec: AgentOutput): AgentOutput {
  const frozen = Object.freeze(spec);
  made.add(frozen);
  return frozen;
}

/** Choices between given values are left to the provider, which then gives no other. */
function formOf(schema: JsonObject): OutputForm {
  if (
    'enum' in schema ||
    'const' in schema ||
    '$ref' in schema ||
    'anyOf' in schema ||
    'oneOf' in schema ||
    'allOf' in schema
  )
    return 'json';
  switch (schema['type']) {
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    default:
      return 'json';
  }
}

/**
 * An object with a value of the schema; definitions stay at the top, where references look for
 * them.
 */
function wrapped(schema: JsonObject): JsonObject {
  const { $schema, $defs, definitions, ...own } = schema;
  return {
    ...defined({ $schema }),
    type: 'object',
    properties: { value: redirected(own) },
    required: ['value'],
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs: redirected($defs) }),
    ...(definitions === undefined ? {} : { definitions: redirected(definitions) }),
  };
}

/** References to parts of a schema that has moved into `value`. */
function redirected(part: JsonValue): JsonValue {
  if (Array.isArray(part)) return part.map(redirected);
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, inner]) => {
      const moves =
        key === '$ref' &&
        typeof inner === 'string' &&
        /^#(?!\/(?:definitions|\$defs)\/)/.test(inner);
      return [
        key,
        moves ? `#/properties/value${String(inner).slice(1)}` : redirected(inner as JsonValue),
      ];
    }),
  );
}

const schemaMaps: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);
const schemaLists: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'prefixItems', 'items']);
const schemas: ReadonlySet<string> = new Set(['items', 'additionalProperties']);

/**
 * The schema without members that it does not name: that is the only kind that OpenAI and Anthropic
 * take as it is. What the model may answer becomes narrower; what is accepted does not. Parts of
 * `allOf` stay open, because each of them describes the same object.
 */
function closed(schema: JsonValue): JsonValue {
  if (!isPlainObject(schema)) return schema;
  const copy: Record<string, JsonValue> = {};
  for (const [key, part] of Object.entries(schema) as [string, JsonValue][]) {
    if (schemaMaps.has(key) && isPlainObject(part)) {
      copy[key] = Object.fromEntries(
        Object.entries(part).map(([name, inner]) => [name, closed(inner as JsonValue)]),
      );
    } else if (schemaLists.has(key) && Array.isArray(part)) copy[key] = part.map(closed);
    else copy[key] = schemas.has(key) ? closed(part) : part;
  }
  const isOpen =
    isPlainObject(copy['properties']) &&
    copy['additionalProperties'] === undefined &&
    copy['allOf'] === undefined;
  if (isOpen) copy['additionalProperties'] = false;
  return copy;
}
