import type { JsonObject, JsonValue } from '../../base/json.ts';
import { isSuccess, type ToolResult } from '../../ledger/tool-result.ts';
import type { Model } from '../../models/model.ts';
import { type Agent, agent } from '../../runnables/agent.ts';
import type { HookContext } from '../../runnables/hooks.ts';
import type { Tool } from '../../tools/tool.ts';

/** Model of agents that never ask one. */
const noModel: Model = Object.freeze({
  kind: 'model',
  provider: 'adjutant',
  modelId: 'none',
  settings: Object.freeze({}),
  load: () => {
    throw new Error('A call of a plan asks no model.');
  },
});

/**
 * Makes an agent that calls one tool once, without a model: the call has everything that calls of
 * agents have, such as approvals, retries and recovery. Its output is the content of the result.
 * @param args the arguments; those of its input by default
 */
export function toolAgent(plan: string, tool: Tool, args?: JsonObject): Agent {
  return agent({
    name: `${plan}.${tool.name}`,
    description: tool.description,
    model: noModel,
    tools: [tool],
    hooks: {
      beforeModel: (ctx) => {
        if (ctx.round > 1) throw new Error(failureIn(ctx));
        const call = { type: 'tool_call' as const, name: tool.name, args: args ?? inputOf(ctx) };
        return { stepEvents: [call], terminal: false };
      },
      afterTool: (_ctx, _call, result) =>
        isSuccess(result) ? ({ ...result, final: true } satisfies ToolResult) : undefined,
    },
  });
}

function inputOf({ session, invocationId }: HookContext): JsonValue {
  const start = session.events.find(
    (event) => event.type === 'invocation_start' && event.invocationId === invocationId,
  );
  return (start?.type === 'invocation_start' && start.input?.data) || {};
}

function failureIn({ session, invocationId }: HookContext): string {
  const last = session.events.findLast(
    (event) => event.type === 'tool_result' && event.invocationId === invocationId,
  );
  const content = last?.type === 'tool_result' ? last.result.content : 'it has no result';
  return typeof content === 'string' ? content : JSON.stringify(content);
}
