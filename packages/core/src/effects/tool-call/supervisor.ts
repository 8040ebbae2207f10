import type { JsonValue } from '../../base/json.ts';
import type { Event, EventDraft } from '../../ledger/event.ts';
import type { ToolEffect, ToolResult } from '../../ledger/tool-result.ts';
import type { CallState } from '../../loop/call-state.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Writes } from '../writes.ts';

/** A call as supervision sees it. */
export interface SupervisedCall {
  readonly state: CallState;
  /** Tool that is run, which may be a fallback for the requested one. */
  readonly tool: Tool;
  /** The prepared arguments. */
  readonly args: unknown;
  readonly attempt: number;
}

/**
 * Reason for the check of a call. `first`: nothing of it was checked before. `edited`: a person has
 * edited the arguments. `approved`: a person has allowed them unchanged. `again`: the call is tried
 * again. The decisions are recorded the first time, and when a call is refused.
 */
export type CheckMode = 'first' | 'edited' | 'approved' | 'again';

/** Findings of the checks before an attempt. */
export interface CheckedCall {
  /** Result that is recorded instead of an attempt. */
  readonly refused?: SupervisedResult;
  /** Arguments that replace the present ones. */
  readonly args?: JsonValue;
  /** Notes for the model, recorded with the result. */
  readonly guidance: readonly string[];
  /** Question that a person must confirm first. */
  readonly confirm?: string | undefined;
  readonly writes: Writes;
}

/** An attempt that has ended. */
export interface EndedAttempt extends SupervisedCall {
  readonly result: ToolResult;
  readonly effect: ToolEffect | undefined;
  readonly retryAfterMs: number | undefined;
  readonly guidance: readonly string[];
  /** True when the run is cancelled: the call is settled with the checked result. */
  readonly isLast: boolean;
}

/** Outcome of a call after supervision. */
export interface SupervisedResult {
  readonly result: ToolResult;
  readonly notes: readonly string[];
  readonly writes: Writes;
  /** Milliseconds to the next attempt; missing when the call is settled. */
  readonly retryAfterMs?: number;
  /** Name of the tool for the next attempt. */
  readonly fallback?: string;
  /** Present when a person must decide about the call. */
  readonly asks?: true;
}

/**
 * Supervisor of the calls of an agent. It answers at once, unless it asks a hook or an error
 * handler.
 */
export interface ToolSupervisor {
  /** Checks a call before it is attempted. `undefined`: there is no finding. */
  check(
    call: SupervisedCall,
    mode: CheckMode,
  ): CheckedCall | undefined | Promise<CheckedCall | undefined>;
  /** Checks right before the attempt whether the circuit breaker of the tool is open. */
  admit(call: SupervisedCall): CheckedCall | undefined;
  /** Counts whether a tool that ran works. Returns the events to record with the result. */
  observe(call: SupervisedCall, result: ToolResult): readonly EventDraft[];
  /** Decides about a call after an attempt. */
  ended(attempt: EndedAttempt): SupervisedResult | Promise<SupervisedResult>;
  /** Checks a result that arrived after its call was settled. Nothing follows from it. */
  late(attempt: EndedAttempt): SupervisedResult;
  /**
   * Called in a replay, right before the recorded end of an attempt enters the ledger. State that
   * hooks have written lands with it.
   */
  landing(callId: string, events: readonly Event[]): void;
  /**
   * Decides about a call that cannot be attempted: its tool is missing, or its arguments do not
   * fit.
   */
  refused(state: CallState, tool: Tool | undefined, result: ToolResult): SupervisedResult;
  /** Decides about a call whose fallback tool cannot be run either. */
  withoutFallback(state: CallState, why: string): SupervisedResult;
}
