import { defined } from '../base/defined.ts';
import { isPlainObject, type JsonObject, type JsonValue } from '../base/json.ts';
import {
  describeValue,
  findInvalidOption,
  isAnything,
  isFunction,
  isNonEmptyText,
  isPositive,
  isText,
  type OptionChecks,
} from '../base/options.ts';
import { type AnySchema, isStandardSchema } from '../base/schema.ts';
import type { ToolResult } from '../ledger/tool-result.ts';
import type { CallOptions, CallResult } from '../session/body-context.ts';
import type { Runnable } from '../session/runnable.ts';
import type { StateSchema } from '../session/state-types.ts';
import { isListOfPermissions } from '../supervision/permission.ts';
import { callingTool } from './called-runnable.ts';
import { InvalidToolError, ToolFailure } from './errors.ts';
import { type ApprovalOptions, isApproval } from './request-options.ts';
import { toolResultWith, toToolResult } from './result.ts';
import { type Tool, type ToolSchema, tool } from './tool.ts';
import { assertToolName } from './tool-checks.ts';

/** Message and data for a runnable that a tool calls. */
type CallInput = Pick<CallOptions, 'message' | 'data'>;

/**
 * Options of a tool that calls a runnable. `Output` is the output of the runnable, `Args` are the
 * arguments as `schema` makes them.
 */
export interface AgentToolOptions<Output = unknown, Args = JsonObject, Given = unknown> {
  /** @default the runnable's name */
  readonly name?: string;
  /** @default the runnable's description */
  readonly description?: string;
  /**
   * Milliseconds for the whole call.
   * @default `defaults.agentCallTimeoutMs` of the runtime, else 120_000
   */
  readonly timeoutMs?: number;
  /** Asks a person before the runnable is called. `true`: before every call. */
  readonly approval?: ApprovalOptions<Args> | true;
  /** Permissions that the run needs: without them the runnable is not called. */
  readonly requiresPermission?: readonly string[];
  /**
   * Schema of the arguments that the model writes.
   * @default the `input` of the runnable, else `{ message }`
   */
  readonly schema?: ToolSchema<Given, Args> | JsonObject;
  /**
   * Makes the message of the runnable, or its message and data, from the arguments. Pure: after a
   * stop it is called again. @default the arguments are the data; `message` alone is the message
   */
  readonly input?: (args: Args) => string | CallInput;
  /**
   * Makes the result that the model reads from the output of the runnable. Pure: after a stop it is
   * called again. @default the output
   */
  readonly result?: (output: Output) => unknown;
  /**
   * Makes what the model reads of a runnable that did not complete: a text, with which the call has
   * failed, or a result of `toolResult`, which may be a success. Pure, as `result`.
   * @default `<name> ended as <status>: <message>`
   */
  readonly failure?: (failed: CallResult<Output>, args: Args) => string | ToolResult;
}

const optionChecks: OptionChecks<AgentToolOptions> = {
  name: isNonEmptyText,
  description: isNonEmptyText,
  timeoutMs: isPositive,
  approval: isApproval,
  requiresPermission: isListOfPermissions,
  schema: isAnything,
  input: isFunction,
  result: isFunction,
  failure: isFunction,
};

const inputChecks: OptionChecks<CallInput> = { message: isText, data: isAnything };

interface Task {
  readonly message: string;
}

const jsonSchema = Object.freeze({
  type: 'object',
  properties: {
    message: {
      type: 'string',
      description: 'What is to be done, with everything that is needed to know for it.',
    },
  },
  required: ['message'],
  additionalProperties: false,
});

/** Written out, because a schema library is no dependency of the core. */
const taskSchema: ToolSchema<Task, Task> = Object.freeze({
  '~standard': Object.freeze({
    version: 1 as const,
    vendor: 'adjutant',
    validate: (value: unknown) => {
      const message = (value as { message?: unknown } | null | undefined)?.message;
      return typeof message === 'string'
        ? { value: { message } }
        : { issues: [{ message: 'must be a string', path: ['message'] }] };
    },
    jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
  }),
});

/**
 * Returns the schema of an agent's input. The data is passed on unchanged: the agent's schema
 * checks it.
 */
function inputSchemaOf(runnable: Runnable): ToolSchema | JsonObject | undefined {
  const { input, inputSchema } = runnable as Runnable & {
    readonly input?: AnySchema;
    readonly inputSchema?: JsonObject;
  };
  if (input === undefined || inputSchema === undefined || !isStandardSchema(input))
    return inputSchema;
  const check = input['~standard'].validate;
  const unchanged = <Result extends object>(result: Result, value: unknown) =>
    'issues' in result && result.issues !== undefined ? result : { value };
  return Object.freeze({
    '~standard': Object.freeze({
      version: 1 as const,
      vendor: 'adjutant',
      validate: (value: unknown) => {
        const result = check(value);
        return (
          result instanceof Promise
            ? result.then((settled) => unchanged(settled, value))
            : unchanged(result, value)
        ) as typeof result;
      },
      jsonSchema: { input: () => inputSchema, output: () => inputSchema },
    }),
  });
}

/**
 * Lets an agent call another agent, or any runnable, as a tool. The callee gets the message, or the
 * data that its `input` asks for, and runs below the call. Its output is the result. After a stop
 * it continues, and is not called twice.
 * @throws InvalidToolError when the runnable's name cannot be a tool's name and no other is given,
 * its `input` is not an object, or an option does not exist or fit
 * @example
 * ```ts
 * import { agent, agentTool, openai } from 'adjutant';
 *
 * const model = openai('gpt-5-mini');
 * const translator = agent({ name: 'translator', description: 'Translates a text', model });
 * export const writer = agent({ name: 'writer', model, tools: [agentTool(translator)] });
 * ```
 */
export function agentTool<Output = unknown, Args = JsonObject, Given = unknown>(
  runnable: Runnable<Output>,
  options: AgentToolOptions<Output, Args, Given> = {},
): Tool {
  const invalid = findInvalidOption(options, optionChecks);
  if (invalid !== undefined)
    throw new InvalidToolError({ tool: options?.name ?? runnable.name, reason: invalid.reason });
  const name = options.name ?? toolNameOf(runnable);
  const schema = options.schema ?? inputSchemaOf(runnable);
  const { approval, requiresPermission, result: resultOf = (output: Output) => output } = options;
  const isTask = schema === undefined;
  const inputOf = (args: Args): CallInput =>
    options.input === undefined
      ? isTask
        ? { message: (args as Task).message }
        : { data: args as JsonValue }
      : givenInput(name, options.input(args));
  const made = tool<Args, unknown, unknown, StateSchema, Given>({
    name,
    description:
      options.description ?? runnable.description ?? `Ask "${runnable.name}" to do something.`,
    schema: (schema ?? taskSchema) as ToolSchema<Given, Args> | JsonObject,
    // The work of the callee is recorded below the call: running this again continues it and
    // returns its result.
    recovery: 'rerun',
    retry: { attempts: 1 },
    ...defined({ approval, requiresPermission, timeoutMs: options.timeoutMs }),
    execute: async (ctx) => {
      const result = await ctx.call(runnable, {
        ...inputOf(ctx.args),
        ...defined({ timeoutMs: options.timeoutMs }),
      });
      if (result.status === 'completed')
        return withConfidence(resultOf(result.output as Output), result.confidence);
      const told = options.failure?.(result, ctx.args) ?? failureText(runnable, result);
      if (typeof told !== 'string') return told;
      throw new ToolFailure(told, { errorType: result.error?.code ?? result.status });
    },
  });
  return callingTool(made, runnable);
}

/** @throws InvalidToolError when the name of the runnable cannot be that of a tool */
function toolNameOf({ name }: Runnable): string {
  try {
    assertToolName(name);
    return name;
  } catch (error) {
    if (!(error instanceof InvalidToolError)) throw error;
    const reason = `${error.data['reason']}; give the tool another one: agentTool(agent, { name })`;
    throw new InvalidToolError({ tool: name, reason });
  }
}

/** @throws ToolFailure when what `input` gave is no input */
function givenInput(name: string, given: string | CallInput): CallInput {
  if (typeof given === 'string') return { message: given };
  const invalid = findInvalidOption(given, inputChecks);
  if (invalid === undefined) return given;
  const reason = isPlainObject(given) ? invalid.reason : `it gave ${describeValue(given)}`;
  throw new ToolFailure(
    `\`input\` of the tool "${name}" must give a text or { message, data }: ${reason}.`,
  );
}

function failureText({ name }: Runnable, { status, error }: CallResult): string {
  return `${name} ended as ${status}${error === undefined ? '' : `: ${error.message}`}`;
}

/**
 * Adds the confidence of the runnable in its output to the result that the model reads. A result
 * that has a confidence of its own keeps it.
 */
function withConfidence(returned: unknown, confidence: number | undefined): unknown {
  if (confidence === undefined) return returned ?? null;
  const { status, content, ...details } = toToolResult(returned);
  return toolResultWith(status, content, { confidence, ...details });
}
