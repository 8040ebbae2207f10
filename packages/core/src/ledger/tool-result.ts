import type { JsonObject, JsonValue } from '../base/json.ts';

export type ToolResultStatus =
  | 'success'
  | 'partial'
  | 'error_transient'
  | 'error_permanent'
  | 'error_blocked'
  | 'timeout'
  | 'unknown';

/** Outcome of one tool call. `content` is for the model, `metadata` for the system. */
export interface ToolResult {
  readonly status: ToolResultStatus;
  readonly content: JsonValue;
  /**
   * Stable code of the error: `http_403`, `http_429`, `timeout`, `validation_error`,
   * `unknown_tool`, `unreadable_action`, …
   */
  readonly errorType?: string;
  /** Technical details of the error, for logs. */
  readonly detail?: string;
  /** Other actions that the model might take. */
  readonly alternatives?: readonly string[];
  /** Confidence in the result, from 0 to 1. */
  readonly confidence?: number;
  /** Report of the tries, for the caller or person that the call is escalated to. */
  readonly escalation?: string;
  readonly escalate?: boolean;
  /** True when the result is the agent's answer as it stands: the model is not asked again. */
  readonly final?: boolean;
  readonly metadata?: JsonObject;
}

/** Known outside effect of an attempt that did not succeed. */
export type ToolEffect = 'none' | 'unknown';

export function isSuccess(result: ToolResult): boolean {
  return result.status === 'success' || result.status === 'partial';
}
