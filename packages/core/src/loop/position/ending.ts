import type { ErrorRecord } from '../../base/error.ts';
import type { JsonValue } from '../../base/json.ts';
import type { EventOf, NextInvocation, StopReason } from '../../ledger/event.ts';
import { isSuccess } from '../../ledger/tool-result.ts';

/** Known causes for which the invocation ends. */
export interface EndingState {
  /**
   * Reason why the agent stops, such as an exhausted limit. Once it is set, the model may only give
   * a last answer.
   */
  stopReason: StopReason | undefined;
  /** Error that the invocation is to end with. */
  failure: ErrorRecord | undefined;
  /** Text of a guardrail that replaces the answer. */
  refusal: string | undefined;
  /** Tool result that is the answer, unchanged. */
  result: { readonly output: JsonValue } | undefined;
  /** Target of the handoff that a tool or a hook began. */
  next: NextInvocation | undefined;
}

export function startEnding(): EndingState {
  return {
    stopReason: undefined,
    failure: undefined,
    refusal: undefined,
    result: undefined,
    next: undefined,
  };
}

/** Folds the result of a settled call, which may hand off or be the answer. */
export function endByResult(ending: EndingState, { next, result }: EventOf<'tool_result'>): void {
  ending.next ??= next;
  if (result.final === true && isSuccess(result)) ending.result ??= { output: result.content };
}

/** Folds the reopening of the invocation: the cause of its end no longer counts. */
export function reopenEnding(ending: EndingState): void {
  ending.stopReason = undefined;
  ending.failure = undefined;
  ending.refusal = undefined;
}
