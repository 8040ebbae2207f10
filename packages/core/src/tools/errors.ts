import { AdjutantError } from '../base/error.ts';
import type { JsonObject } from '../base/json.ts';
import type { ToolEffect } from '../ledger/tool-result.ts';

/** A tool definition that cannot be used. */
export class InvalidToolError extends AdjutantError {
  constructor(data: { tool: string; reason: string }) {
    super('invalid_tool', `The tool "${data.tool}" cannot be defined: ${data.reason}.`, data);
  }
}

/** Two tools of one agent have the same name. */
export class DuplicateToolError extends AdjutantError {
  constructor(data: { tool: string; where: string }) {
    super('duplicate_tool', `${data.where} has two tools named "${data.tool}". Rename one of them or give it a name space.`, data);
  }
}

/**
 * Thrown by a tool that knows what its failure means.
 * `effect` says whether something may have happened outside: `none` lets the call be retried, `unknown` does not.
 */
export class ToolFailure extends AdjutantError {
  readonly errorType: string;
  readonly effect: ToolEffect;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { errorType?: string; effect?: ToolEffect; retryAfterMs?: number; data?: JsonObject; cause?: unknown } = {}) {
    super('tool_failure', message, options.data ?? {}, { cause: options.cause });
    this.errorType = options.errorType ?? 'tool_error';
    this.effect = options.effect ?? 'none';
    this.retryAfterMs = options.retryAfterMs;
  }
}
