import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { deepFreeze, type JsonObject, type JsonValue } from '../base/json.ts';
import {
  findInvalidOption,
  isAnything,
  isCount,
  isFlag,
  isFunction,
  isGroup,
  isNotNegative,
  isObject,
  isOneOf,
  isPositive,
  isText,
  type OptionChecks,
} from '../base/options.ts';
import type { BodyContext } from '../ledger/body-context.ts';
import type { Runnable } from '../ledger/runnable.ts';
import type { StateSchema } from '../ledger/state-types.ts';
import { toolWireName } from '../ledger/tool-name.ts';
import type { ToolResult } from '../ledger/tool-result.ts';
import { InvalidToolError } from './errors.ts';

/** A schema library's schema: any Standard Schema that also gives JSON Schema (zod 4.2 and later does). */
export type ToolSchema<Input = unknown, Output = unknown> = StandardSchemaV1<Input, Output> & StandardJSONSchemaV1<Input, Output>;

/** What is done with a call that repeats one whose outcome is not known. */
export type OnRepeat = 'refuse' | 'allow';

/** What is done with an attempt whose effect is not known, because the process died, the time was over or the connection was lost. */
export type Recovery = 'report' | 'rerun';

export interface ToolRetry {
  /** Attempts in all. @default 3 */
  readonly maxAttempts?: number;
  /** Milliseconds before the second attempt. @default 1_000 */
  readonly initialDelayMs?: number;
  /** @default 2 */
  readonly backoffMultiplier?: number;
}

export interface ToolContext<Args = unknown, Schema extends StateSchema = StateSchema> extends BodyContext<Schema> {
  readonly args: Args;
  readonly callId: string;
  readonly toolName: string;
  /** Name of the agent that calls. */
  readonly agent: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The same for every attempt whose effect might be that of an earlier one: hand it to services that honour such keys. */
  readonly idempotencyKey: string;
  /** Grows with every owner of the session: a fencing token for services that take one. */
  readonly epoch: number;
  /** Epoch milliseconds at which the attempt is given up; later once it has called a runnable, unless the tool has a `timeout`. */
  readonly deadline: number | undefined;
  /** Streams a `tool_progress` event; nothing of it is stored. */
  progress(data: JsonValue): void;
}

/** What `finalize` sees: the context of the call, and what `execute` gave. */
export interface FinalizeContext<Args = unknown, Output = unknown, Schema extends StateSchema = StateSchema> extends ToolContext<Args, Schema> {
  /** The awaited result of `execute`. */
  readonly result: Output;
}

type ToolReturn<Output> = Output | ToolResult | Runnable;

/** Options of `tool`. `Args` comes from a library's schema; with plain JSON Schema it is `JsonObject`, unless `execute` annotates its context. */
export interface ToolOptions<Args, Input, Output, Schema extends StateSchema> {
  /** What the model calls it by: letters, digits, `_` and `-`, with name spaces before dots; at most 64 characters when each dot counts as two. */
  readonly name: string;
  readonly description: string;
  /** Schema of the arguments, which are an object: zod 4.2 or later, another Standard Schema that gives JSON Schema, or JSON Schema itself. */
  readonly schema: ToolSchema<Input, Args> | JsonObject;
  /** Schema of the result, checked before the model sees it; a result that does not fit is a failed call, which is not tried again. */
  readonly outputSchema?: StandardSchemaV1<unknown, Output> | JsonObject;
  /** Types the state that the tool uses, and checks what it writes. */
  readonly stateSchema?: Schema;
  /** Milliseconds for one attempt. @default 30_000 (120_000 for a tool that calls agents) */
  readonly timeout?: number;
  /** Attempts after a failure that is known to have had no effect, or after any failure of a tool that may be run again. @default none */
  readonly retry?: ToolRetry;
  /** @default 'rerun' with `readOnly` or `idempotent`, else 'report' */
  readonly recovery?: Recovery;
  /**
   * What is done with a call that has the arguments of an earlier one of which nobody knows whether it took effect. It gets the idempotency key of
   * that one; 'refuse' does not run it at all and tells the model to check first. Without meaning for a tool that may be run again.
   * @default 'refuse' for a tool that itself says `recovery: 'report'` or `destructive: true`, else 'allow'
   */
  readonly onRepeat?: OnRepeat;
  /** The tool changes nothing outside. */
  readonly readOnly?: boolean;
  /** Doing it twice with the same arguments is doing it once. */
  readonly idempotent?: boolean;
  /** The tool may destroy something. */
  readonly destructive?: boolean;
  /**
   * Changes the validated arguments before they are used. Runs before the attempt is recorded, anew for each one: what it throws refuses the
   * call, without an attempt and without a retry. Its context has the number and the key of the attempt that is to follow (a call that turns out to
   * repeat one whose outcome is not known gets the key of that one), and a deadline of its own, as long as the tool's `timeout`. It may not begin
   * children, and should change nothing outside: nothing protects what it does from being done again.
   */
  readonly prepare?: (ctx: ToolContext<Args, Schema>) => Args | Promise<Args>;
  /** Does the work. Returning a runnable hands the conversation over to it. */
  readonly execute: (ctx: ToolContext<Args, Schema>) => ToolReturn<Output> | Promise<ToolReturn<Output>>;
  /**
   * Changes the result before it is recorded. Not called when `execute` gave a `ToolResult` or a runnable: these are final.
   * When it throws, the call has failed and is not tried again: the tool has done its work.
   */
  readonly finalize?: (ctx: FinalizeContext<Args, Output, Schema>) => unknown;
}

/** A frozen tool definition. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, as the model is shown it. */
  readonly inputSchema: JsonObject;
  readonly schema: ToolSchema | JsonObject;
  readonly outputSchema?: StandardSchemaV1 | JsonObject;
  readonly stateSchema?: StateSchema;
  readonly timeout: number | undefined;
  readonly retry: Required<ToolRetry>;
  readonly recovery: Recovery;
  readonly onRepeat: OnRepeat;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  readonly destructive: boolean;
  readonly prepare?: (ctx: ToolContext) => unknown;
  readonly execute: (ctx: ToolContext) => unknown;
  readonly finalize?: (ctx: FinalizeContext) => unknown;
}

const namePattern = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;

/** The longest name that every provider takes. */
const longestWireName = 64;

/** @throws InvalidToolError when a tool cannot have this name */
function assertToolName(name: unknown): asserts name is string {
  if (typeof name !== 'string' || !namePattern.test(name)) {
    throw new InvalidToolError({ tool: String(name), reason: 'a name consists of letters, digits, "_" or "-", with name spaces before dots' });
  }
  if (toolWireName(name).length > longestWireName) {
    throw new InvalidToolError({ tool: name, reason: `a name has at most ${longestWireName} characters, a dot counting as two` });
  }
}

/**
 * Defines a tool. The definition is frozen; a JSON Schema is copied.
 * @throws InvalidToolError when the name or the schema cannot be used with model providers, or the options contradict each other
 */
export function tool<Args = JsonObject, Input = unknown, Output = unknown, Schema extends StateSchema = StateSchema>(
  options: ToolOptions<Args, Input, Output, Schema>,
): Tool {
  const name: unknown = (options as { name?: unknown } | null | undefined)?.name;
  assertToolName(name);
  assertConsistent(name, options);
  const inputSchema = inputJsonSchema(name, options.schema);
  const repeatable = options.readOnly === true || options.idempotent === true;
  return Object.freeze({
    ...options,
    inputSchema,
    schema: isStandardSchema(options.schema) ? options.schema : inputSchema,
    timeout: options.timeout,
    retry: retryOf(options.retry),
    recovery: options.recovery ?? (repeatable ? 'rerun' : 'report'),
    onRepeat: options.onRepeat ?? (options.recovery === 'report' || options.destructive === true ? 'refuse' : 'allow'),
    readOnly: options.readOnly ?? false,
    idempotent: options.idempotent ?? false,
    destructive: options.destructive ?? false,
  }) as unknown as Tool;
}

/** The same tool under another name. */
export function renameTool(definition: Tool, name: string): Tool {
  assertToolName(name);
  return Object.freeze({ ...definition, name });
}

type CheckedOptions = Pick<Tool, 'timeout' | 'execute' | 'readOnly' | 'destructive' | 'description' | 'onRepeat'>;

const retryChecks: OptionChecks<ToolRetry> = {
  maxAttempts: isCount,
  initialDelayMs: isNotNegative,
  backoffMultiplier: (value) => (typeof value === 'number' && value >= 1 ? undefined : 'a number from 1'),
};

/** A definition may be spread into the options of a new one, so what `tool` adds is known here too. */
const toolChecks: OptionChecks<ToolOptions<unknown, unknown, unknown, StateSchema> & Pick<Tool, 'inputSchema'>> = {
  name: isAnything,
  description: isText,
  schema: isAnything,
  inputSchema: isObject,
  outputSchema: isAnything,
  stateSchema: isObject,
  timeout: isPositive,
  retry: isGroup(retryChecks),
  recovery: isOneOf('report', 'rerun'),
  onRepeat: isOneOf('refuse', 'allow'),
  readOnly: isFlag,
  idempotent: isFlag,
  destructive: isFlag,
  prepare: isFunction,
  execute: isFunction,
  finalize: isFunction,
};

function assertConsistent(name: string, options: object): void {
  const { description, execute, readOnly, destructive } = options as Partial<CheckedOptions>;
  const refuse = (reason: string): never => {
    throw new InvalidToolError({ tool: name, reason });
  };
  if (typeof description !== 'string') refuse('`description` must be a string that tells the model when and how to use the tool');
  if (typeof execute !== 'function') refuse('`execute` must be a function');
  const invalid = findInvalidOption(options, toolChecks);
  if (invalid !== undefined) refuse(invalid.reason);
  if (readOnly && destructive) refuse('`readOnly` and `destructive` contradict each other');
}

function retryOf(retry: ToolRetry | undefined): Required<ToolRetry> {
  if (retry === undefined) return Object.freeze({ maxAttempts: 1, initialDelayMs: 0, backoffMultiplier: 1 });
  const { maxAttempts = 3, initialDelayMs = 1_000, backoffMultiplier = 2 } = retry;
  return Object.freeze({ maxAttempts, initialDelayMs, backoffMultiplier });
}

/** Whether a schema is one of a schema library rather than plain JSON Schema. */
export function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  return (typeof schema === 'object' || typeof schema === 'function') && schema !== null && '~standard' in schema;
}

function inputJsonSchema(name: string, schema: unknown): JsonObject {
  const written = isStandardSchema(schema) ? convertedSchema(name, schema) : schema;
  if (typeof written !== 'object' || written === null || Array.isArray(written)) {
    throw new InvalidToolError({ tool: name, reason: '`schema` must be a Standard Schema (such as z.object({…})) or a JSON Schema object' });
  }
  const { type = 'object' } = written as { type?: unknown };
  if (type !== 'object')
    throw new InvalidToolError({ tool: name, reason: `\`schema\` must describe an object of arguments, not ${JSON.stringify(type)}` });
  return deepFreeze(copyOfSchema(name, { type, ...written }));
}

function copyOfSchema(name: string, schema: object): JsonObject {
  try {
    return structuredClone(schema) as JsonObject;
  } catch (cause) {
    throw new InvalidToolError({ tool: name, reason: `\`schema\` is not JSON Schema: ${(cause as Error).message}` });
  }
}

function convertedSchema(name: string, schema: StandardSchemaV1): unknown {
  const standard: StandardSchemaV1.Props & { readonly jsonSchema?: StandardJSONSchemaV1.Converter } = schema['~standard'];
  if (standard.jsonSchema === undefined) {
    throw new InvalidToolError({
      tool: name,
      reason: `\`schema\` (of ${standard.vendor}) cannot give a JSON Schema; use a library that implements Standard JSON Schema, such as zod 4.2 or later, or pass a JSON Schema object`,
    });
  }
  try {
    return standard.jsonSchema.input({ target: 'draft-07' });
  } catch (cause) {
    throw new InvalidToolError({ tool: name, reason: `\`schema\` cannot be written as JSON Schema: ${(cause as Error).message}` });
  }
}
