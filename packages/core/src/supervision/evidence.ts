import type { JsonValue } from '../base/json.ts';
import type { ToolResult } from '../ledger/tool-result.ts';

/** A settled call, as the loop detector sees it. */
export interface CallEvidence {
  readonly name: string;
  readonly args: JsonValue;
  readonly result: ToolResult;
  /** How many messages had come from outside when the call was made. */
  readonly turn: number;
}

/** Calls that are remembered at most; the window of the loop detector is never wider. */
export const mostEvidence = 100;

/** `errorType` of calls that the loop detector did not let through. */
export const vetoType = 'loop_blocked';

/** Whether a result is the loop detector's own: a veto is no progress and no evidence. */
export function isVeto({ errorType, status }: ToolResult): boolean {
  return errorType === vetoType && status === 'error_blocked';
}
