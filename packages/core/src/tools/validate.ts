import type { StandardSchemaV1 } from '@standard-schema/spec';
import { toErrorRecord } from '../base/error.ts';
import type { JsonObject } from '../base/json.ts';
import { type AnySchema, isStandardSchema, jsonSchemaOf } from '../base/schema.ts';
import { InvalidToolError } from './errors.ts';
import {
  compileJsonSchema,
  compileJsonSchemaNow,
  type JsonSchemaCheck,
} from './json-schema-check.ts';
import type { OnExpire } from './request-options.ts';
import type { Tool } from './tool-definition.ts';
import { withHints } from './validation-hints.ts';
import {
  explainIssues,
  explainPlaces,
  fromStandardIssue,
  type ValidationIssue,
} from './validation-issue.ts';

export interface ValidationFailure {
  readonly ok: false;
  /** Message for the model: the fields, their values, and what was expected. */
  readonly message: string;
  readonly issues: readonly ValidationIssue[];
}

/**
 * The result of a check. `args` comes from the schema: a library's defaults and transforms apply,
 * JSON Schema changes nothing.
 */
export type ArgsValidation = { readonly ok: true; readonly args: unknown } | ValidationFailure;
export type OutputValidation = { readonly ok: true; readonly output: unknown } | ValidationFailure;

type Checked = { readonly value: unknown } | { readonly issues: readonly ValidationIssue[] };

/**
 * Checks the arguments of a call. Answers at once when the schema does: a library's schema without
 * asynchronous checks always, JSON Schema when its validator has been loaded.
 * @throws InvalidToolError (or rejects with it) when the JSON Schema cannot be compiled, or the
 * schema itself throws
 */
export function validateArgs(tool: Tool, args: unknown): ArgsValidation | Promise<ArgsValidation> {
  const checked = check(tool, tool.schema, args);
  return checked instanceof Promise
    ? checked.then((settled) => argsOutcome(tool, settled))
    : argsOutcome(tool, checked);
}

/**
 * Checks the result of a tool against its `outputSchema`; without one every result fits. Answers at
 * once as `validateArgs` does.
 * @throws InvalidToolError (or rejects with it) when the JSON Schema cannot be compiled, or the
 * schema itself throws
 */
export function validateOutput(
  tool: Tool,
  output: unknown,
): OutputValidation | Promise<OutputValidation> {
  if (tool.outputSchema === undefined) return { ok: true, output };
  const checked = check(tool, tool.outputSchema, output);
  return checked instanceof Promise
    ? checked.then((settled) => outputOutcome(tool, settled))
    : outputOutcome(tool, checked);
}

/** The result of a check; `input` comes from the schema. */
export type InputValidation =
  | { readonly ok: true; readonly input: unknown }
  | { readonly ok: false; readonly message: string };

/**
 * Checks the input that was given for a call against the tool's `yieldSchema`. The message names
 * the places and what was expected there, and none of the values.
 * @throws InvalidToolError (or rejects with it) when the schema cannot be used
 */
export async function validateInput(tool: Tool, input: unknown): Promise<InputValidation> {
  if (tool.yieldSchema === undefined) return { ok: true, input };
  const checked = await check(tool, tool.yieldSchema, input);
  if ('value' in checked) return { ok: true, input: checked.value };
  return { ok: false, message: `the input does not fit: ${explainPlaces(checked.issues)}` };
}

/**
 * Checks a value against the JSON Schema that a question shows, for a process that does not have
 * the tool. The process that runs the call checks what the schema leaves open, and everything when
 * the schema cannot be used here.
 * @returns the places that do not fit, and what is expected there
 */
export async function mismatchWithShown(
  name: string,
  schema: JsonObject,
  value: unknown,
): Promise<string | undefined> {
  try {
    const checked = await checkWithJsonSchema({ name }, schema, value);
    return 'value' in checked ? undefined : explainPlaces(checked.issues);
  } catch (error) {
    if (error instanceof InvalidToolError) return undefined;
    throw error;
  }
}

/**
 * The result of a schema for a value; `unusable` is the reason when the schema itself cannot be
 * used.
 */
export type ValueCheck = Checked | { readonly unusable: string };

/** Checks a value against a schema that is not a tool's. As quick as `validateArgs`. */
export function checkValue(schema: AnySchema, value: unknown): ValueCheck | Promise<ValueCheck> {
  try {
    const checked = check(nobody, schema, value);
    return checked instanceof Promise ? checked.catch(unusable) : checked;
  } catch (thrown) {
    return unusable(thrown);
  }
}

/**
 * Checks a value as `checkValue` does, at once also where JSON Schema is used for the first time.
 * `undefined` when the schema checks asynchronously.
 */
export function checkValueNow(schema: AnySchema, value: unknown): ValueCheck | undefined {
  if (!isStandardSchema(schema) && !compiledChecks.has(schema)) {
    try {
      compiledChecks.set(schema, compileJsonSchemaNow({ ...schema }));
    } catch (thrown) {
      return { unusable: `its JSON Schema is not valid: ${toErrorRecord(thrown).message}` };
    }
  }
  const checked = checkValue(schema, value);
  if (!(checked instanceof Promise)) return checked;
  checked.catch(() => undefined);
  return undefined;
}

/**
 * Returns the places of a default answer that do not fit its schema. `undefined`: it fits, or only
 * the answer itself can show it, as with a schema that checks asynchronously.
 */
export function misfitOfDefault(
  schema: AnySchema,
  onExpire: OnExpire | undefined,
): string | undefined {
  if (typeof onExpire !== 'object') return undefined;
  const checked = checkValueNow(schema, onExpire.default);
  return checked !== undefined && 'issues' in checked ? explainPlaces(checked.issues) : undefined;
}

const nobody = Object.freeze({ name: '' });

function unusable(thrown: unknown): ValueCheck {
  if (!(thrown instanceof InvalidToolError)) throw thrown;
  return { unusable: String(thrown.data['reason']) };
}

function argsOutcome(tool: Tool, checked: Checked): ArgsValidation {
  if ('value' in checked) return { ok: true, args: checked.value };
  const subject = `The arguments of "${tool.name}" do not fit. Correct these and call it again`;
  return { ok: false, message: explainIssues(subject, checked.issues), issues: checked.issues };
}

function outputOutcome(tool: Tool, checked: Checked): OutputValidation {
  if ('value' in checked) return { ok: true, output: checked.value };
  const subject = `The tool "${tool.name}" ran, but its result is not what it declares`;
  return { ok: false, message: explainIssues(subject, checked.issues), issues: checked.issues };
}

function check(
  tool: Pick<Tool, 'name'>,
  schema: AnySchema,
  value: unknown,
): Checked | Promise<Checked> {
  return isStandardSchema(schema)
    ? checkWithLibrary(tool, schema, value)
    : checkWithJsonSchema(tool, schema, value);
}

function checkWithLibrary(
  tool: Pick<Tool, 'name'>,
  schema: StandardSchemaV1,
  value: unknown,
): Checked | Promise<Checked> {
  try {
    const result = schema['~standard'].validate(value);
    if (!(result instanceof Promise))
      return result.issues === undefined
        ? result
        : { issues: translated(result.issues, value, schema) };
    return result.then(
      (settled) =>
        settled.issues === undefined
          ? settled
          : { issues: translated(settled.issues, value, schema) },
      (thrown: unknown) => refuse(tool, thrown),
    );
  } catch (thrown) {
    return refuse(tool, thrown);
  }
}

function translated(
  issues: readonly StandardSchemaV1.Issue[],
  value: unknown,
  schema: StandardSchemaV1,
): readonly ValidationIssue[] {
  const found = issues.flatMap((issue) => fromStandardIssue(issue, value));
  return withHints(found, value, () => {
    const written = jsonSchemaOf(schema);
    return 'schema' in written ? written.schema : undefined;
  });
}

function refuse(tool: Pick<Tool, 'name'>, thrown: unknown): never {
  throw new InvalidToolError({
    tool: tool.name,
    reason: `its schema threw while it checked a value: ${toErrorRecord(thrown).message}`,
  });
}

/** By schema object, so that a renamed tool shares what was compiled. */
const compiledChecks = new WeakMap<object, JsonSchemaCheck>();

function checkWithJsonSchema(
  tool: Pick<Tool, 'name'>,
  schema: object,
  value: unknown,
): Checked | Promise<Checked> {
  const compiled = compiledChecks.get(schema) ?? compiledFor(tool, schema);
  return compiled instanceof Promise
    ? compiled.then((check) => outcomeOf(check, value))
    : outcomeOf(compiled, value);
}

/** Compiles a schema, and keeps what was compiled. */
function compiledFor(
  tool: Pick<Tool, 'name'>,
  schema: object,
): JsonSchemaCheck | Promise<JsonSchemaCheck> {
  const keep = (check: JsonSchemaCheck): JsonSchemaCheck => {
    compiledChecks.set(schema, check);
    return check;
  };
  const refuseInvalid = (thrown: unknown): Promise<never> =>
    Promise.reject(
      new InvalidToolError({
        tool: tool.name,
        reason: `its JSON Schema is not valid: ${toErrorRecord(thrown).message}`,
      }),
    );
  try {
    const compiling = compileJsonSchema({ ...schema });
    return compiling instanceof Promise ? compiling.then(keep, refuseInvalid) : keep(compiling);
  } catch (thrown) {
    return refuseInvalid(thrown);
  }
}

function outcomeOf(compiled: JsonSchemaCheck, value: unknown): Checked {
  const issues = compiled(value);
  return issues.length === 0 ? { value } : { issues };
}
