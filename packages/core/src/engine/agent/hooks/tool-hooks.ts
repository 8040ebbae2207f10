import { coerceToJson, isPlainObject } from '../../../base/json.ts';
import type { ToolResult } from '../../../ledger/tool-result.ts';
import type { HookToolCall } from '../../../runnables/hooks.ts';
import { toolResult, toToolResult } from '../../../tools/result.ts';
import type { HookCaller } from './hook-caller.ts';
import type { HookOrder } from './hook-order.ts';
import type { HookWrites } from './hook-writes.ts';

/** Hooks around a tool call: `beforeTool`, `afterTool` and `onToolError`. */
export class ToolHooks {
  readonly #order: HookOrder;
  readonly #caller: HookCaller;
  readonly #writes: HookWrites;

  constructor(order: HookOrder, caller: HookCaller, writes: HookWrites) {
    this.#order = order;
    this.#caller = caller;
    this.#writes = writes;
  }

  /** Returns a result in the place of the tool's; `undefined` when the tool is to run. */
  async before(call: HookToolCall): Promise<ToolResult | undefined> {
    const { callId } = call;
    for (const { owner, hooks } of this.#order.inward) {
      const given: unknown = await this.#caller.call({
        hook: 'beforeTool',
        owner,
        call: hooks.beforeTool && ((ctx) => hooks.beforeTool?.(ctx, call)),
        callId,
      });
      if (given === undefined) continue;
      const reasoning = `beforeTool gave a result in the place of ${call.name}, which was not run.`;
      this.#writes.note(owner, 'skip_tool', reasoning, { callId });
      return givenResult(given);
    }
    return undefined;
  }

  /** Returns the result as the hooks leave it. */
  async after(call: HookToolCall, result: ToolResult): Promise<ToolResult> {
    const { callId } = call;
    let current = result;
    for (const { owner, hooks } of this.#order.outward) {
      const given: unknown = await this.#caller.call({
        hook: 'afterTool',
        owner,
        call: hooks.afterTool && ((ctx) => hooks.afterTool?.(ctx, call, current)),
        callId,
      });
      if (given === undefined || given === current) continue;
      current = givenResult(given);
      const reasoning = `afterTool changed the result of ${call.name}.`;
      this.#writes.note(owner, 'change_result', reasoning, { callId });
    }
    return current;
  }

  /** Returns a result in the place of a failed one; `undefined` when no hook gives one. */
  async onError(call: HookToolCall, result: ToolResult): Promise<ToolResult | undefined> {
    const { callId } = call;
    for (const { owner, hooks } of this.#order.inward) {
      const given: unknown = await this.#caller.call({
        hook: 'onToolError',
        owner,
        call: hooks.onToolError && ((ctx) => hooks.onToolError?.(ctx, call, result)),
        callId,
      });
      if (given === undefined) continue;
      const reasoning = `onToolError gave a result in the place of the failure of ${call.name}.`;
      this.#writes.note(owner, 'replace_failure', reasoning, { callId });
      return givenResult(given);
    }
    return undefined;
  }
}

/** Returns the tool result that a hook gave. An object with nothing but an `error` is a refusal. */
function givenResult(given: unknown): ToolResult {
  if (isPlainObject(given) && Object.keys(given).length === 1 && 'error' in given) {
    return toolResult.blocked(coerceToJson(given['error']).value, { errorType: 'hook_refused' });
  }
  return toToolResult(given);
}
