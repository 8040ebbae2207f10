import type { JsonValue } from '../base/json.ts';
import type { ToolResult } from '../ledger/tool-result.ts';
import type { CallEvidence } from './evidence.ts';
import type { LoopOptions } from './options.ts';

/** A call as the loop detector judges it. */
export interface JudgedCall {
  readonly name: string;
  readonly args: JsonValue;
  /** How many messages had come from outside when the call was made. */
  readonly turn: number;
  /** Whether the agent has a tool of this name. */
  readonly isKnown: boolean;
}

/** Why a call counts as a loop, and what follows: a note to the model (`warn`), or that it is not made (`block`). */
export interface LoopVerdict {
  readonly level: 'warn' | 'block';
  readonly detector: 'repeat' | 'poll' | 'ping_pong' | 'unknown_tool' | 'exhausted';
  /** Which of the equal calls this one is. */
  readonly count: number;
  /** For the model. */
  readonly message: string;
  /** For people. */
  readonly reasoning: string;
  readonly alternatives: readonly string[];
}

/**
 * Whether a call is to be made. Pure.
 * @param evidence settled calls of the agent, oldest first
 * @param isExhausted whether nothing is left to be tried about the failure of an equal call
 */
export function judgeCall(
  _evidence: readonly CallEvidence[],
  _call: JudgedCall,
  _options: Required<LoopOptions>,
  _isExhausted: (last: CallEvidence, failures: number) => boolean,
): LoopVerdict | undefined {
  return undefined;
}

/**
 * Whether the model is to be told that a call repeats itself. Pure.
 * @param evidence settled calls of the agent before this one, oldest first
 */
export function judgeResult(
  _evidence: readonly CallEvidence[],
  _call: JudgedCall,
  _result: ToolResult,
  _options: Required<LoopOptions>,
): LoopVerdict | undefined {
  return undefined;
}
