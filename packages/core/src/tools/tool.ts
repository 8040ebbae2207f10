import { deepFreeze, type JsonObject } from '../base/json.ts';
import { resolveRetry } from '../base/retry-options.ts';
import { isStandardSchema, jsonSchemaOf } from '../base/schema.ts';
import type { StateSchema } from '../session/state-types.ts';
import { InvalidToolError } from './errors.ts';
import type { OnExpire } from './request-options.ts';
import { assertConsistent, assertToolName } from './tool-checks.ts';
import type { ToolContext } from './tool-context.ts';
import type { Tool, ToolOptions } from './tool-definition.ts';
import { misfitOfDefault } from './validate.ts';

export type { FinalizeContext, ProbeContext, ToolContext } from './tool-context.ts';
export type {
  OnRepeat,
  Probe,
  ProbeResult,
  Recovery,
  Tool,
  ToolFallback,
  ToolOptions,
  ToolSchema,
} from './tool-definition.ts';

/**
 * Defines a tool. The definition is frozen; a JSON Schema is copied.
 * @throws InvalidToolError when the name or the schema cannot be used with model providers, or the
 * options contradict each other
 * @example
 * ```ts
 * import { tool } from 'adjutant';
 * import { z } from 'zod';
 *
 * export const refund = tool({
 *   name: 'refund',
 *   description: 'Pays an order back',
 *   schema: z.object({ order: z.string(), cents: z.number().int() }),
 *   approval: { when: ({ args }) => args.cents > 10_000 },
 *   recovery: 'ask', // a person says what became of a call that a crash cut off
 *   execute: async (ctx) => ({ refunded: ctx.args.cents }),
 * });
 * ```
 */
export function tool<
  Args = JsonObject,
  Input = unknown,
  Output = unknown,
  Schema extends StateSchema = StateSchema,
  Given = unknown,
>(options: ToolOptions<Args, Input, Output, Schema, Given>): Tool {
  const name: unknown = (options as { name?: unknown } | null | undefined)?.name;
  assertToolName(name);
  assertConsistent(name, options);
  const inputSchema = inputJsonSchema(name, options.schema);
  const { execute, approval, yieldSchema, fallback, retry, requiresPermission = [] } = options;
  // A result is only checked, so its schema need not give JSON Schema.
  if (options.outputSchema !== undefined && !isStandardSchema(options.outputSchema))
    writtenSchema(name, options.outputSchema, 'outputSchema');
  // A tool that only waits for input does nothing outside.
  const repeatable =
    options.readOnly === true || options.idempotent === true || execute === undefined;
  const isDeclared =
    options.recovery === 'report' || options.recovery === 'ask' || options.destructive === true;
  const yieldInputSchema =
    yieldSchema === undefined ? undefined : writtenSchema(name, yieldSchema, 'yieldSchema');
  assertDefaultFits(name, yieldSchema, options.yieldOptions?.onExpire);
  return Object.freeze({
    ...options,
    execute: execute ?? givenInput,
    ...(approval === true ? { approval: {} } : {}),
    ...(yieldSchema === undefined
      ? {}
      : {
          yieldSchema: isStandardSchema(yieldSchema) ? yieldSchema : yieldInputSchema,
          yieldInputSchema,
        }),
    inputSchema,
    schema: isStandardSchema(options.schema) ? options.schema : inputSchema,
    timeoutMs: options.timeoutMs,
    ...(retry === undefined ? {} : { retry: resolveRetry(retry) }),
    ...(fallback === undefined
      ? {}
      : {
          fallback: Object.freeze(
            typeof fallback === 'string' ? { tool: fallback } : { ...fallback },
          ),
        }),
    requiresPermission: Object.freeze([...requiresPermission]),
    recovery: options.recovery ?? (repeatable ? 'rerun' : 'report'),
    onRepeat: options.onRepeat ?? (isDeclared ? 'confirm' : 'allow'),
    readOnly: options.readOnly ?? false,
    idempotent: options.idempotent ?? false,
    destructive: options.destructive ?? false,
  }) as unknown as Tool;
}

/** Returns the input: the result of a tool without `execute`. */
function givenInput(ctx: ToolContext): unknown {
  return ctx.input;
}

/** Returns the same tool under another name. */
export function renameTool(definition: Tool, name: string): Tool {
  assertToolName(name);
  return Object.freeze({ ...definition, name });
}

/** Returns the JSON Schema of the input of a schema. */
function writtenSchema(name: string, schema: unknown, option: string): JsonObject {
  const converted = jsonSchemaOf(schema);
  if ('reason' in converted)
    throw new InvalidToolError({ tool: name, reason: `\`${option}\` ${converted.reason}` });
  return converted.schema;
}

/** Checks the input that a tool is given when nobody answers in time. */
function assertDefaultFits(
  name: string,
  yieldSchema: Tool['yieldSchema'],
  onExpire: OnExpire | undefined,
): void {
  if (yieldSchema === undefined) return;
  const misfit = misfitOfDefault(yieldSchema, onExpire);
  if (misfit === undefined) return;
  const reason = `the default of \`yieldOptions.onExpire\` does not fit \`yieldSchema\`: ${misfit}`;
  throw new InvalidToolError({ tool: name, reason });
}

function inputJsonSchema(name: string, schema: unknown): JsonObject {
  const written = writtenSchema(name, schema, 'schema');
  const { type = 'object' } = written as { type?: unknown };
  if (type !== 'object')
    throw new InvalidToolError({
      tool: name,
      reason: `\`schema\` must describe an object of arguments, not ${JSON.stringify(type)}`,
    });
  return deepFreeze({ type, ...written });
}
