import type { JsonObject, JsonValue } from '../base/json.ts';

export type ToolResultStatus =
  | 'success'
  | 'partial'
  | 'error_transient'
  | 'error_permanent'
  | 'error_blocked'
  | 'timeout'
  | 'unknown';

/** What became of one tool call. `content` is for the model, `metadata` for the system. */
export interface ToolResult {
  readonly status: ToolResultStatus;
  readonly content: JsonValue;
  /**
   * A stable word for what went wrong: `http_403`, `http_429`, `timeout`, `validation_error`,
   * `unknown_tool`, …
   */
  readonly errorType?: string;
  /** The technical account of the error, for logs. */
  readonly detail?: string;
  /** What the model might do instead. */
  readonly alternatives?: readonly string[];
  /** From 0 to 1. */
  readonly confidence?: number;
  /** What was tried, when the call is handed up to the caller or a human. */
  readonly escalation?: string;
  readonly escalate?: boolean;
  /** The result is the agent's answer as it stands: the model is not asked again. */
  readonly final?: boolean;
  readonly metadata?: JsonObject;
}

/** What is known of the outside effect of an attempt that did not succeed. */
export type ToolEffect = 'none' | 'unknown';

export function isSuccess(result: ToolResult): boolean {
  return result.status === 'success' || result.status === 'partial';
}
