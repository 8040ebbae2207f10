import type { Agent, JsonObject, Loop, Parallel, Runnable, Sequence, Step, Tool } from 'adjutant';
import type { Composed } from 'adjutant/plan';
import { defined } from 'adjutant/text';
import type { AgentAnswer, ToolAnswer } from '../schemas/agent.ts';

type AnyRunnable = Agent | Step | Sequence | Parallel | Loop | Composed;

/**
 * Describes a runnable to callers: its input, its output and its tools, but neither its prompts nor
 * its models.
 * @param shared the tools that all agents of the app have
 */
export function describeAgent(runnable: Runnable, shared: readonly Tool[]): AgentAnswer {
  const { name, kind, description, version } = runnable;
  return {
    name,
    kind,
    ...defined({ description, version }),
    ...detailsOf(runnable as AnyRunnable, shared),
  };
}

function detailsOf(
  runnable: AnyRunnable,
  shared: readonly Tool[],
): Pick<AgentAnswer, 'inputSchema' | 'outputSchema' | 'parts' | 'tools'> {
  switch (runnable.kind) {
    case 'agent': {
      const { inputSchema, output, tools } = runnable;
      const outputSchema = jsonSchemaOf(output?.schema);
      const own = new Set(tools.map(({ name }) => name));
      return {
        ...defined({ inputSchema, outputSchema }),
        tools: [
          ...tools.map((tool) => describeTool(tool, false)),
          ...shared.filter(({ name }) => !own.has(name)).map((tool) => describeTool(tool, true)),
        ],
      };
    }
    case 'sequence':
    case 'parallel':
      return { parts: runnable.runnables.map(({ name }) => name) };
    case 'loop':
      return { parts: [runnable.runnable.name] };
    case 'plan':
    case 'graph':
    case 'router':
      return { parts: runnable.parts.map(({ name }) => name) };
    case 'step':
      return {};
  }
}

function describeTool(tool: Tool, isShared: boolean): ToolAnswer {
  const {
    name,
    description,
    inputSchema,
    approval,
    requiresPermission,
    readOnly,
    idempotent,
    destructive,
  } = tool;
  const outputSchema = jsonSchemaOf(tool.outputSchema);
  return {
    name,
    description,
    shared: isShared,
    inputSchema,
    ...defined({ outputSchema, yieldSchema: tool.yieldInputSchema }),
    approval:
      approval === undefined ? 'never' : approval.when === undefined ? 'always' : 'sometimes',
    requiresPermission: [...requiresPermission],
    readOnly,
    idempotent,
    destructive,
  };
}

interface StandardJsonSchema {
  readonly '~standard': {
    readonly jsonSchema?: {
      output(options: { readonly target: 'draft-07' }): Record<string, unknown>;
    };
  };
}

/** JSON Schema of what fits a schema; `undefined` where its library cannot write it. */
function jsonSchemaOf(schema: object | undefined): JsonObject | undefined {
  if (schema === undefined) return undefined;
  if (!('~standard' in schema)) return schema as JsonObject;
  try {
    return (schema as StandardJsonSchema)['~standard'].jsonSchema?.output({ target: 'draft-07' }) as
      | JsonObject
      | undefined;
  } catch {
    return undefined;
  }
}
