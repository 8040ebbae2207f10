import { AdjutantError } from '../../base/error.ts';
import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import { findJsonDefect, type JsonValue } from '../../base/json.ts';
import { isObject, type OptionCheck } from '../../base/options.ts';
import type { ToolResult } from '../../ledger/tool-result.ts';
import { agent } from '../../runnables/agent.ts';
import { Runtime } from '../../runtime.ts';
import type { Tool, ToolContext } from '../../tools/tool.ts';
import { scriptedModel } from './scripted-model.ts';
import { writeState } from './seed-state.ts';

export interface CallToolOptions {
  /**
   * Signal that aborts the call: the tool gets it as its signal.
   * @default none
   */
  readonly signal?: AbortSignal;
  /** State of the session that the tool finds. @default none */
  readonly state?: { readonly [key: string]: JsonValue };
  /**
   * Permissions of the call.
   * @default everything that the tool requires
   */
  readonly permissions?: readonly string[];
}

/**
 * Error of a tool that was called by itself and gave no result: it waits for a person or another
 * process, or the call could not be carried out.
 */
export class NoToolResultError extends AdjutantError {
  constructor(data: { tool: string; reason: string }) {
    super(
      'no_tool_result',
      `The call of ${data.tool} gave no result: ${data.reason}. Use runTest() to test what ` +
        'lies around the call.',
      data,
    );
  }
}

const isSignal: OptionCheck = (value) =>
  value instanceof AbortSignal ? undefined : 'an AbortSignal';

/**
 * Calls a tool by itself, as a run does. Arguments are validated, errors are classified, and the
 * tool gets the context of a real call. No supervision applies.
 * @param args the arguments as a model gives them; a text is parsed as JSON, which it may not be
 * @throws NoToolResultError when it waits for approval, for input or for an operation elsewhere,
 * InvalidOptionError
 */
export async function callTool(
  tool: Tool,
  args: JsonValue | object,
  options: CallToolOptions = {},
): Promise<ToolResult> {
  checkOptions('callTool', options, {
    signal: isSignal,
    state: isObject,
    permissions: (value) => (Array.isArray(value) ? undefined : 'a list'),
  });
  const defect = findJsonDefect(args);
  if (defect !== undefined)
    throw new InvalidOptionError({
      function: 'callTool',
      reason: `the arguments must be JSON, and ${defect.path} is ${defect.found}`,
    });
  const { signal, state, permissions = tool.requiresPermission ?? [] } = options;
  const app = new Runtime({ app: 'test', permissions: [...permissions], supervision: false });
  const session = await app.sessions.open();
  if (state !== undefined) writeState(session, state);
  const model = scriptedModel([
    { toolCalls: [{ name: tool.name, args: args as JsonValue }] },
    { text: 'done' },
  ]);
  const caller = agent({
    name: 'caller',
    model,
    tools: [signal === undefined ? tool : withSignal(tool, signal)],
  });
  const run = await app.run(caller, { session, input: `Call ${tool.name}` });
  const settled = session.events.find((event) => event.type === 'tool_result' && event.settled);
  if (settled?.type === 'tool_result') return session.ledger.resolve(settled.result) as ToolResult;
  const waits = run.pendingCalls[0]?.kind;
  throw new NoToolResultError({
    tool: tool.name,
    reason: waits === undefined ? `the run ended as ${run.status}` : `it waits for its ${waits}`,
  });
}

function withSignal(tool: Tool, signal: AbortSignal): Tool {
  const execute = (ctx: ToolContext): unknown => {
    const both = AbortSignal.any([signal, ctx.signal]);
    return tool.execute(
      new Proxy(ctx, {
        get: (target, name) =>
          name === 'signal' ? both : boundTo(target, Reflect.get(target, name, target)),
      }),
    );
  };
  return { ...tool, execute } as Tool;
}

/**
 * Returns a member of an object; methods with private fields are bound, as they work on the object
 * only.
 */
function boundTo(target: object, value: unknown): unknown {
  return typeof value === 'function' ? value.bind(target) : value;
}
