import { isAdjutantError } from '../../../base/error.ts';
import type {
  CheckedCall,
  EndedAttempt,
  SupervisedCall,
  SupervisedResult,
} from '../../../effects/tool-call/supervisor.ts';
import type { Writes } from '../../../effects/writes.ts';
import { joinedWrites, noWrites } from '../../../effects/writes.ts';
import { decision, failingContent } from '../../../ledger/decisions/decision.ts';
import { isSuccess, type ToolResult } from '../../../ledger/tool-result.ts';
import type { HookToolCall } from '../../../runnables/hooks.ts';
import { toolResult } from '../../../tools/result.ts';
import type { HookPipeline } from '../hooks/hook-pipeline.ts';
import type { ErrorHandlerStage } from './error-handler-stage.ts';
import { hookCall } from './hook-call.ts';
import type { Outcome } from './stage.ts';

/** Asks the hooks around a tool call: the last check before it, and the first wait after it. */
export class HookStage {
  readonly #path: string;
  readonly #hooks: HookPipeline;
  readonly #handlers: ErrorHandlerStage;
  /** True when there are hooks or error handlers for what comes after an attempt. */
  readonly asksAfter: boolean;

  constructor(path: string, hooks: HookPipeline, handlers: ErrorHandlerStage) {
    this.#path = path;
    this.#hooks = hooks;
    this.#handlers = handlers;
    this.asksAfter =
      hooks.has('afterTool') || hooks.has('onToolError') || !hooks.errorHandlers.isEmpty;
  }

  /** True when there are hooks for what comes before an attempt. */
  get asksBefore(): boolean {
    return this.#hooks.has('beforeTool');
  }

  /** Asks `beforeTool` with the arguments that the stages before it have left in `passed`. */
  async check(
    supervised: SupervisedCall,
    passed: CheckedCall | undefined,
  ): Promise<CheckedCall | undefined> {
    const call = hookCall(supervised, passed?.args);
    let given: ToolResult | undefined;
    try {
      given = await this.#hooks.tool.before(call);
    } catch (thrown) {
      const refused = this.#failed(thrown, call);
      return { refused, guidance: [], writes: passed?.writes ?? noWrites };
    }
    const writes = joinedWrites([passed?.writes, this.#hooks.takeWrites(call.callId)]);
    if (given !== undefined)
      return {
        refused: { result: given, notes: passed?.guidance ?? [], writes },
        guidance: [],
        writes: noWrites,
      };
    if (passed === undefined && writes === noWrites) return undefined;
    return { ...passed, guidance: passed?.guidance ?? [], writes };
  }

  /**
   * Asks the hooks and error handlers about a result. `conclude` ends the call when no handler
   * does.
   */
  async after(
    attempt: EndedAttempt,
    outcome: Outcome,
    conclude: (hookWrites: Writes) => SupervisedResult,
  ): Promise<SupervisedResult> {
    const hooks = this.#hooks;
    const call = hookCall(attempt);
    try {
      if (hooks.has('afterTool')) outcome.result = await hooks.tool.after(call, outcome.result);
      if (!isSuccess(outcome.result) && hooks.has('onToolError'))
        outcome.result = (await hooks.tool.onError(call, outcome.result)) ?? outcome.result;
      if (isSuccess(outcome.result) || attempt.isLast || hooks.errorHandlers.isEmpty)
        return conclude(hooks.takeWrites(call.callId));
      const handled = await this.#handlers.after(attempt, outcome);
      return handled ?? conclude(hooks.takeWrites(call.callId));
    } catch (thrown) {
      return this.#failed(thrown, call, outcome);
    }
  }

  /**
   * Settles the call of a hook that throws with what is known of it. The decision ends the agent
   * when its open calls are settled.
   */
  #failed(thrown: unknown, { callId }: HookToolCall, outcome?: Outcome): SupervisedResult {
    if (!isAdjutantError(thrown, 'hook_failed')) throw thrown;
    const draft = decision('hooks', 'failed', failingContent(this.#path, thrown));
    const result =
      outcome?.result ?? toolResult.permanent(thrown.message, { errorType: 'hook_failed' });
    const writes = joinedWrites([
      this.#hooks.takeWrites(callId),
      { drafts: [...(outcome?.drafts ?? []), draft], extras: undefined },
    ]);
    return { result, notes: outcome?.notes ?? [], writes };
  }
}
