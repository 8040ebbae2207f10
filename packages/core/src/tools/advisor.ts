import { defined } from '../base/defined.ts';
import { checkOptions, InvalidOptionError } from '../base/invalid-option.ts';
import type { JsonValue } from '../base/json.ts';
import { isNonEmptyText, isObject, isPositive, type OptionChecks } from '../base/options.ts';
import type { Runnable } from '../session/runnable.ts';
import { callingTool } from './called-runnable.ts';
import { ToolFailure } from './errors.ts';
import { type Tool, type ToolSchema, tool } from './tool.ts';

export interface AdvisorOptions {
  /** The agent that is asked, with a model of its own, or any other runnable. */
  readonly advisor: Runnable;
  /**
   * The tools that it may suggest: it gets their names and descriptions.
   * @default nothing, so that it advises in general
   */
  readonly tools?: readonly Pick<Tool, 'name' | 'description'>[];
  /** @default 'request_alternative_approach' */
  readonly name?: string;
  /**
   * Milliseconds for the whole call.
   * @default `defaults.agentCallTimeoutMs` of the runtime, else 120_000
   */
  readonly timeoutMs?: number;
}

const optionChecks: OptionChecks<AdvisorOptions> = {
  advisor: isObject,
  tools: (value) =>
    Array.isArray(value) &&
    value.every(
      (one: Partial<Tool> | null) =>
        typeof one?.name === 'string' && typeof one.description === 'string',
    )
      ? undefined
      : 'a list of tools',
  name: isNonEmptyText,
  timeoutMs: isPositive,
};

interface Problem {
  readonly task: string;
  readonly attempts: string;
  readonly error_details?: string;
}

const jsonSchema = Object.freeze({
  type: 'object',
  properties: {
    task: { type: 'string', description: 'What is to be achieved.' },
    attempts: { type: 'string', description: 'What has been tried, and why each attempt failed.' },
    error_details: { type: 'string', description: 'The errors or symptoms, word for word.' },
  },
  required: ['task', 'attempts'],
  additionalProperties: false,
});

/** Written out, because a schema library is no dependency of the core. */
const problemSchema: ToolSchema<Problem, Problem> = Object.freeze({
  '~standard': Object.freeze({
    version: 1 as const,
    vendor: 'adjutant',
    validate: (value: unknown) => {
      const given = (value ?? {}) as Readonly<Record<string, unknown>>;
      const { task, attempts, error_details } = given;
      const wrong = ['task', 'attempts'].filter((field) => typeof given[field] !== 'string');
      if (error_details !== undefined && typeof error_details !== 'string')
        wrong.push('error_details');
      if (wrong.length > 0)
        return { issues: wrong.map((field) => ({ message: 'must be a string', path: [field] })) };
      return {
        value: {
          task,
          attempts,
          ...defined({ error_details }),
        } as Problem,
      };
    },
    jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
  }),
});

/**
 * A tool by which an agent that is stuck asks another one for a way that it has not tried. The
 * advisor runs below the call: it is recorded, counted and limited like any call, and is not asked
 * twice after a stop.
 * @throws InvalidOptionError, InvalidToolError
 */
export function requestAlternativeApproach(options: AdvisorOptions): Tool {
  checkOptions('requestAlternativeApproach', options, optionChecks);
  const { advisor, tools = [], name = 'request_alternative_approach', timeoutMs } = options;
  if (advisor === undefined)
    throw new InvalidOptionError({
      function: 'requestAlternativeApproach',
      reason: '`advisor` is needed',
    });
  const made = tool<Problem, Problem, JsonValue>({
    name,
    description:
      'Asks an advisor for another way when the current one keeps failing. Say what you ' +
      'want to achieve, what you have tried and what went wrong. Gives one approach to try ' +
      'next.',
    schema: problemSchema,
    // Its only effect is a recorded call, which a second execution finds.
    recovery: 'rerun',
    ...defined({ timeoutMs }),
    execute: async (ctx) => {
      const message = messageOf(ctx.args, tools);
      const result = await ctx.call(advisor, {
        message,
        ...defined({ timeoutMs }),
      });
      if (result.status === 'completed') return (result.output ?? null) as JsonValue;
      throw new ToolFailure(
        `The advisor ${advisor.name} ended as ` +
          `${result.status}${result.error === undefined ? '' : `: ${result.error.message}`}`,
        {
          errorType: result.error?.code ?? result.status,
        },
      );
    },
  });
  return callingTool(made, advisor);
}

function messageOf(
  { task, attempts, error_details }: Problem,
  tools: readonly Pick<Tool, 'name' | 'description'>[],
): string {
  const parts = [
    'Another agent is stuck and needs an approach that it has not tried. Answer with one ' +
      'concrete approach in two or three sentences, nothing else.',
    `Task: ${task}`,
    `Tried so far: ${attempts}`,
  ];
  if (error_details !== undefined) parts.push(`Errors: ${error_details}`);
  if (tools.length > 0) {
    parts.push(
      'Tools that it ' +
        `has:\n${tools.map((one) => `- ${one.name}: ${one.description}`).join('\n')}\nSay ` +
        'which of them to use, and how.',
    );
  }
  return parts.join('\n\n');
}
