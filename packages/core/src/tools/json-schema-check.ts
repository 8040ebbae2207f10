import { createRequire } from 'node:module';
import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv';
import type { JsonObject } from '../base/json.ts';
import { withHints } from './validation-hints.ts';
import {
  describeValue,
  type FoundIssue,
  jsonPath,
  noSuchMember,
  oneOf,
  type ValidationIssue,
  valueAt,
  withArticle,
} from './validation-issue.ts';

/** Checks a value against its JSON Schema; returns the issues, or an empty list. */
export type JsonSchemaCheck = (value: unknown) => readonly ValidationIssue[];

/**
 * Compiles a pattern. Patterns are meant for the `u` flag; many that are not valid with it work
 * without.
 */
const compilePattern = Object.assign(
  (pattern: string, flags: string): RegExp => {
    try {
      return new RegExp(pattern, flags);
    } catch {
      return new RegExp(pattern, flags.replace('u', ''));
    }
  },
  { code: 'new RegExp' },
);

const options: Options = {
  allErrors: true,
  verbose: true,
  strict: false,
  validateFormats: false,
  coerceTypes: false,
  useDefaults: false,
  addUsedSchema: false,
  logger: false,
  code: { regExp: compilePattern },
};
/** Options for schemas that have been checked; `addUsedSchema` lets them refer to themselves. */
const compiling: Options = { ...options, validateSchema: false, addUsedSchema: true };

type Usual = typeof import('ajv');
type Recent = typeof import('ajv/dist/2020.js');
type ValidatorClass = Usual['Ajv'] | Recent['Ajv2020'];

/** Validators that have been loaded, by whether they are for recent drafts. */
const loaded = new Map<boolean, ValidatorClass>();

/**
 * Compiles a JSON Schema: draft 2020-12 (and 2019-09) if `$schema` names it, otherwise draft 07.
 * Formats are not checked, nothing is coerced, unknown keywords are ignored. Answers at once when
 * its validator has been loaded.
 * @throws Error (or rejects with it) when the schema is not valid
 */
export function compileJsonSchema(schema: JsonObject): JsonSchemaCheck | Promise<JsonSchemaCheck> {
  const isForRecent = isRecent(schema);
  const validator = loaded.get(isForRecent);
  return validator === undefined
    ? loadValidator(isForRecent).then((made) => compile(made, schema))
    : compile(validator, schema);
}

/** Loads both validators, so that no schema waits for them. */
export async function loadValidators(): Promise<void> {
  await Promise.all([loadValidator(false), loadValidator(true)]);
}

async function loadValidator(isForRecent: boolean): Promise<ValidatorClass> {
  const validator = isForRecent
    ? (await import('ajv/dist/2020.js')).Ajv2020
    : (await import('ajv')).Ajv;
  loaded.set(isForRecent, validator);
  return validator;
}

/** Compiles a JSON Schema as `compileJsonSchema` does, for callers that cannot wait. */
export function compileJsonSchemaNow(schema: JsonObject): JsonSchemaCheck {
  const load = createRequire(import.meta.url);
  return compile(
    isRecent(schema) ? (load('ajv/dist/2020.js') as Recent).Ajv2020 : (load('ajv') as Usual).Ajv,
    schema,
  );
}

function isRecent({ $schema: dialect }: JsonObject): boolean {
  return /2020-12|2019-09/.test(String(dialect));
}

/**
 * Validators that check schemas. What they compile for it, the schema of schemas, is several times
 * the work of one tool's schema.
 */
const checkers = new Map<unknown, Ajv>();

function checkerOf(Validator: ValidatorClass): Ajv {
  const checker = checkers.get(Validator) ?? new Validator(options);
  checkers.set(Validator, checker);
  return checker;
}

function compile(Validator: ValidatorClass, schema: JsonObject): JsonSchemaCheck {
  const { $schema: _dialect, $async: asynchronous, ...rest } = schema;
  if (asynchronous !== undefined) throw new Error('"$async" schemas are not supported');
  checkerOf(Validator).validateSchema(rest, true);
  const validate: ValidateFunction = new Validator(compiling).compile(rest);
  return (value) =>
    validate(value)
      ? []
      : withHints(distinctIssues(validate.errors ?? [], value), value, () => schema);
}

/**
 * Removes repeated places: `anyOf` and the like report every branch and then themselves. Each place
 * is named once, with everything that would fit.
 */
function distinctIssues(errors: readonly ErrorObject[], value: unknown): readonly FoundIssue[] {
  const byPath = new Map<string, Omit<FoundIssue, 'expected'> & { expected: Set<string> }>();
  for (const error of errors) {
    if (error.keyword === 'if') continue;
    const segments = [...segmentsOf(error.instancePath, value), ...memberOf(error)];
    const path = jsonPath(segments);
    const known = byPath.get(path) ?? {
      path,
      segments,
      came: describeValue(valueAt(value, segments)),
      expected: new Set<string>(),
    };
    if (!isBranching(error) || known.expected.size === 0) known.expected.add(expectedBy(error));
    byPath.set(path, known);
  }
  return Array.from(byPath.values(), (issue) => ({
    ...issue,
    expected: [...issue.expected].join(' or '),
  }));
}

function isBranching({ keyword }: ErrorObject): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf';
}

function segmentsOf(pointer: string, value: unknown): PropertyKey[] {
  const segments: PropertyKey[] = [];
  for (const escaped of pointer.split('/').slice(1)) {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    segments.push(Array.isArray(valueAt(value, segments)) ? Number(key) : key);
  }
  return segments;
}

/** Returns the missing or unknown member of the object at the path. */
function memberOf({ params }: ErrorObject): PropertyKey[] {
  const { missingProperty, additionalProperty, unevaluatedProperty, propertyName } =
    params as Record<string, unknown>;
  const member = missingProperty ?? additionalProperty ?? unevaluatedProperty ?? propertyName;
  return typeof member === 'string' ? [member] : [];
}

function expectedBy(error: ErrorObject): string {
  const { keyword, message = 'a valid value' } = error;
  const { type, allowedValues, allowedValue, missingProperty } = error.params as Record<
    string,
    unknown
  >;
  switch (keyword) {
    case 'type':
      return [type]
        .flat()
        .map((kind) => (kind === 'integer' ? 'a whole number' : withArticle(String(kind))))
        .join(' or ');
    case 'enum':
      return oneOf(Array.isArray(allowedValues) ? allowedValues : []);
    case 'const':
      return oneOf([allowedValue]);
    case 'required':
      return typeOfMember(error.parentSchema, String(missingProperty));
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return noSuchMember;
    default:
      return message.replace(/^must /, '').replace(/^NOT /, 'not to ');
  }
}

function typeOfMember(schema: unknown, member: string): string {
  const described = valueAt(schema, ['properties', member]);
  const type = valueAt(described, ['type']);
  const values = valueAt(described, ['enum']);
  if (Array.isArray(values)) return oneOf(values);
  if (typeof type === 'string') return type === 'integer' ? 'a whole number' : withArticle(type);
  return 'a value (it is required)';
}
