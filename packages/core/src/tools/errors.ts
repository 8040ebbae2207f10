import { AdjutantError } from '../base/error.ts';
import type { JsonObject } from '../base/json.ts';
import type { ToolEffect, ToolResult, ToolResultStatus } from '../ledger/tool-result.ts';

/** A tool definition that cannot be used. */
export class InvalidToolError extends AdjutantError {
  constructor(data: { tool: string; reason: string }) {
    super('invalid_tool', `The tool "${data.tool}" cannot be defined: ${data.reason}.`, data);
  }
}

/**
 * Two tools in one place have the same name, or names that providers, which see `.` as `__`, could
 * not tell apart.
 */
export class DuplicateToolError extends AdjutantError {
  constructor(data: { tool: string; where: string; taken?: string }) {
    const what =
      data.taken === undefined
        ? `has two tools named "${data.tool}"`
        : `has the tools "${data.taken}" and "${data.tool}", which a model could not tell ` +
          'apart because it sees "." as "__"';
    super(
      'duplicate_tool',
      `${data.where} ${what}. Rename one of them or give it a name space.`,
      data,
    );
  }
}

/** `prepare` tried to begin a child or an effect. */
export class ChildInPrepareError extends AdjutantError {
  constructor(data: { tool: string }) {
    super(
      'child_in_prepare',
      `"prepare" of the tool "${data.tool}" called another runnable or began an effect. It ` +
        'runs before the attempt is recorded, so nothing would keep them from being run ' +
        'again: do this in "execute".',
      data,
    );
  }
}

export interface ToolFailureOptions {
  /** A stable name of the failure. @default 'tool_error' */
  readonly errorType?: string;
  /**
   * @default from `errorType` (`http_…`, `timeout`), else 'unknown' with `effect: 'unknown'`,
   * 'error_transient' with `retryAfterMs`, 'error_permanent' otherwise
   */
  readonly status?: ToolResultStatus;
  /** The knowledge of an effect outside. @default 'none' */
  readonly effect?: ToolEffect;
  /** Milliseconds after which another attempt may succeed. */
  readonly retryAfterMs?: number;
  /** Other ways for the model to go on. */
  readonly alternatives?: readonly string[];
  readonly data?: JsonObject;
  readonly cause?: unknown;
}

/** Facts that a failure states: its kind, its effect outside, and when to try again. */
export type DeclaredFailure = Pick<
  ToolFailure,
  | ('message' | 'data' | 'cause')
  | ('errorType' | 'status' | 'effect' | 'retryAfterMs' | 'alternatives')
>;

/**
 * A failure that a tool understands. The model reads the message. `effect` tells if something may
 * have happened outside: `none` lets the call be retried, `unknown` does not.
 */
export class ToolFailure extends AdjutantError {
  readonly errorType: string;
  readonly status: ToolResultStatus | undefined;
  readonly effect: ToolEffect;
  readonly retryAfterMs: number | undefined;
  readonly alternatives: readonly string[];

  constructor(message: string, options: ToolFailureOptions = {}) {
    super('tool_failure', message, options.data ?? {}, { cause: options.cause });
    this.errorType = options.errorType ?? 'tool_error';
    this.status = options.status;
    this.effect = options.effect ?? 'none';
    this.retryAfterMs = options.retryAfterMs;
    this.alternatives = options.alternatives ?? [];
  }
}

/**
 * Says what a value thrown by a tool means; nothing returned leaves it to what is known of errors
 * in general.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: many return nothing for unknown errors
export type ClassifyThrown = (thrown: unknown) => ToolFailure | ToolResult | undefined | void;
