import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { BodyContext } from '../ledger/body-context.ts';
import type { Runnable } from '../ledger/runnable.ts';
import type { StateSchema } from '../ledger/state-types.ts';
import type { ToolResult } from '../ledger/tool-result.ts';
import { InvalidToolError } from './errors.ts';

/** A schema library's schema: any Standard Schema that also gives JSON Schema (zod 4.2 and later does). */
export type ToolSchema<Input = unknown, Output = unknown> = StandardSchemaV1<Input, Output> & StandardJSONSchemaV1<Input, Output>;

/** What is done with an attempt whose result is missing, because the process died or the effect is not known. */
export type Recovery = 'report' | 'rerun';

export interface ToolRetry {
  /** Attempts in all. @default 3 */
  readonly maxAttempts?: number;
  /** Milliseconds before the second attempt. @default 1_000 */
  readonly initialDelayMs?: number;
  /** @default 2 */
  readonly backoffMultiplier?: number;
}

export interface ToolContext<Args = JsonValue, Schema extends StateSchema = StateSchema> extends BodyContext<Schema> {
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
  /** Epoch milliseconds at which the attempt is given up. */
  readonly deadline: number | undefined;
  /** Streams a `tool_progress` event; nothing of it is stored. */
  progress(data: JsonValue): void;
}

type ToolReturn<Output> = Output | ToolResult | Runnable;

export interface ToolOptions<Args, Input, Output, Schema extends StateSchema> {
  /** What the model calls it by: letters, digits, `_` and `-`; a name space before a dot. */
  readonly name: string;
  readonly description: string;
  readonly schema: ToolSchema<Input, Args> | JsonObject;
  /** Schema of the result, checked before the model sees it; a result that does not fit is a failed call. */
  readonly outputSchema?: StandardSchemaV1<unknown, Output> | JsonObject;
  /** Types the state that the tool uses, and checks what it writes. */
  readonly stateSchema?: Schema;
  /** Milliseconds for one attempt. @default 30_000 (120_000 for a tool that calls agents) */
  readonly timeout?: number;
  /** Attempts after a failure that is known to have had no effect, or after any failure of a tool that may be run again. @default none */
  readonly retry?: ToolRetry;
  /** @default 'rerun' with `readOnly` or `idempotent`, else 'report' */
  readonly recovery?: Recovery;
  /** The tool changes nothing outside. */
  readonly readOnly?: boolean;
  /** Doing it twice with the same arguments is doing it once. */
  readonly idempotent?: boolean;
  /** The tool may destroy something. */
  readonly destructive?: boolean;
  /** Changes the validated arguments before they are used. */
  readonly prepare?: (ctx: ToolContext<Args, Schema>) => Args | Promise<Args>;
  /** Does the work. Returning a runnable hands the conversation over to it. */
  readonly execute: (ctx: ToolContext<Args, Schema>) => ToolReturn<Output> | Promise<ToolReturn<Output>>;
  /** Changes the result before it is recorded. */
  readonly finalize?: (ctx: ToolContext<Args, Schema> & { readonly result: Output }) => unknown;
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
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  readonly destructive: boolean;
  readonly prepare?: (ctx: ToolContext) => unknown;
  readonly execute: (ctx: ToolContext) => unknown;
  readonly finalize?: (ctx: ToolContext & { readonly result: unknown }) => unknown;
}

const namePattern = /^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64})*$/;

/**
 * Defines a tool.
 * @throws InvalidToolError when the name cannot be used with model providers, or the options contradict each other
 */
export function tool<Args, Input, Output, Schema extends StateSchema = StateSchema>(options: ToolOptions<Args, Input, Output, Schema>): Tool {
  const { name } = options;
  if (typeof name !== 'string' || !namePattern.test(name)) {
    throw new InvalidToolError({
      tool: String(name),
      reason: 'a name consists of 1 to 64 letters, digits, "_" or "-", with name spaces before dots',
    });
  }
  if (typeof options.execute !== 'function') throw new InvalidToolError({ tool: name, reason: '`execute` must be a function' });
  if (options.readOnly && options.destructive)
    throw new InvalidToolError({ tool: name, reason: '`readOnly` and `destructive` contradict each other' });
  const repeatable = options.readOnly === true || options.idempotent === true;
  return Object.freeze({
    ...options,
    inputSchema: inputJsonSchema(name, options.schema),
    timeout: options.timeout,
    retry: retryOf(name, options.retry),
    recovery: options.recovery ?? (repeatable ? 'rerun' : 'report'),
    readOnly: options.readOnly ?? false,
    idempotent: options.idempotent ?? false,
    destructive: options.destructive ?? false,
  }) as unknown as Tool;
}

function retryOf(name: string, retry: ToolRetry | undefined): Required<ToolRetry> {
  if (retry === undefined) return { maxAttempts: 1, initialDelayMs: 0, backoffMultiplier: 1 };
  const maxAttempts = retry.maxAttempts ?? 3;
  if (!Number.isInteger(maxAttempts) || maxAttempts < 1)
    throw new InvalidToolError({ tool: name, reason: '`retry.maxAttempts` must be a whole number from 1' });
  return Object.freeze({ maxAttempts, initialDelayMs: retry.initialDelayMs ?? 1_000, backoffMultiplier: retry.backoffMultiplier ?? 2 });
}

/** Whether a schema is one of a schema library rather than plain JSON Schema. */
export function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  return (typeof schema === 'object' || typeof schema === 'function') && schema !== null && '~standard' in schema;
}

function inputJsonSchema(name: string, schema: unknown): JsonObject {
  if (!isStandardSchema(schema)) {
    if (typeof schema === 'object' && schema !== null) return schema as JsonObject;
    throw new InvalidToolError({ tool: name, reason: '`schema` must be a Standard Schema (such as z.object({…})) or a JSON Schema object' });
  }
  const converter = (schema as StandardSchemaV1 & Partial<StandardJSONSchemaV1>)['~standard'].jsonSchema as
    | StandardJSONSchemaV1.Converter
    | undefined;
  if (converter === undefined) {
    throw new InvalidToolError({
      tool: name,
      reason: `\`schema\` (of ${schema['~standard'].vendor}) cannot give a JSON Schema; use a library that implements Standard JSON Schema, such as zod 4.2 or later, or pass a JSON Schema object`,
    });
  }
  return converter.input({ target: 'draft-07' }) as JsonObject;
}
