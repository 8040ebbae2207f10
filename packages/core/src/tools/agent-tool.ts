import type { JsonValue } from '../base/json.ts';
import type { Runnable } from '../ledger/runnable.ts';
import { ToolFailure } from './errors.ts';
import { type Tool, type ToolSchema, tool } from './tool.ts';

export interface AgentToolOptions {
  /** @default the runnable's name */
  readonly name?: string;
  /** @default the runnable's description */
  readonly description?: string;
  /** Milliseconds for the whole call. @default 120_000 */
  readonly timeout?: number;
}

const defaultTimeoutMs = 120_000;

interface Task {
  readonly message: string;
}

const jsonSchema = Object.freeze({
  type: 'object',
  properties: { message: { type: 'string', description: 'What is to be done, with everything that is needed to know for it.' } },
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
      return typeof message === 'string' ? { value: { message } } : { issues: [{ message: 'must be a string', path: ['message'] }] };
    },
    jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
  }),
});

/**
 * Lets an agent call another agent, or any runnable, as a tool. The callee gets the message and runs below the call; what it gives is the
 * result. After a stop it goes on where it was, and is not called twice.
 * @throws InvalidToolError when the runnable's name cannot be a tool's name and no other is given
 */
export function agentTool(runnable: Runnable, options: AgentToolOptions = {}): Tool {
  return tool<Task, Task, JsonValue>({
    name: options.name ?? runnable.name,
    description: options.description ?? runnable.description ?? `Ask "${runnable.name}" to do something.`,
    schema: taskSchema,
    // Said at once, so that the deadline that is recorded is the one that counts.
    timeout: options.timeout ?? defaultTimeoutMs,
    execute: async (ctx) => {
      const result = await ctx.call(runnable, { message: ctx.args.message, ...(options.timeout === undefined ? {} : { timeout: options.timeout }) });
      if (result.status === 'completed') return (result.output ?? null) as JsonValue;
      throw new ToolFailure(`${runnable.name} ended as ${result.status}${result.error === undefined ? '' : `: ${result.error.message}`}`, {
        errorType: result.error?.code ?? result.status,
      });
    },
  });
}
