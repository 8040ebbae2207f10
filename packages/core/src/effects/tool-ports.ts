import { type CancelScope, givesBack } from '../base/cancel-scope.ts';
import type { Clock } from '../base/clock.ts';
import type { JsonValue } from '../base/json.ts';
import type { Event, EventDraft, EventOf, NextInvocation } from '../ledger/event.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { BatchExtras } from '../ledger/ledger-writer.ts';
import type { ToolEffect, ToolResult } from '../ledger/tool-result.ts';
import type { CallState } from '../loop/call-state.ts';
import type { Runnable } from '../session/runnable.ts';
import type { FinalizeContext, Tool } from '../tools/tool.ts';

/**
 * Context that the engine makes for one attempt, and the writes that are recorded with its result.
 */
export interface ToolBody {
  readonly context: FinalizeContext;
  /** Takes the state changes that the tool made, to be appended with its result. */
  takeWrites(): {
    readonly drafts: readonly EventDraft[];
    readonly extras: BatchExtras | undefined;
  };
  /** Closes the context: from now on it refuses everything that would be recorded. */
  close(): void;
  /**
   * Waits for children that the tool called and did not await. `stop` ends them first. `undefined`:
   * there are none.
   */
  endChildren(stop: boolean): Promise<void> | undefined;
  /**
   * Returns the result. Its metadata names the refused shared writes that came with children which
   * the tool did not await.
   */
  withConflict(result: ToolResult): ToolResult;
  /**
   * Records that the code no longer asks for children or effects that the call had open. Returns
   * the result that says so. `undefined`: the code asked for all of them.
   */
  findDrift(): ToolResult | undefined;
  /** Resolves when a child of the call released the run: the call then stays open. */
  readonly suspended: Promise<void>;
}

export interface ToolCallPorts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly scope: CancelScope;
  readonly path: string;
  /** Returns the tool of the agent with this name. */
  find(name: string): Tool | undefined;
  readonly names: readonly string[];
  /** True when everything that a call has begun waits for an answer. */
  isWaiting(callId: string): boolean;
  /**
   * Children and effects of a call. `open` names one that has not ended. `undefined`: the call has
   * begun none.
   */
  begunBelow(callId: string): { readonly open: string | undefined } | undefined;
  /** Resolves at a time in epoch milliseconds, or when the call is aborted. */
  sleepUntil(at: number): Promise<void>;
  makeBody(attempt: ToolAttempt): ToolBody;
  /**
   * Checks a handoff to another runnable. Returns the data to record, or the reason for the
   * refusal.
   */
  handOver(
    target: Runnable,
  ):
    | { readonly next: NextInvocation; readonly drafts: readonly EventDraft[] }
    | { readonly refused: string };
  /** Supervisor of the calls. Missing where nothing supervises them. */
  readonly supervisor?: ToolSupervisor | undefined;
  /** Wrapper around the execution of a tool. Missing where there is none. */
  readonly around?: (<Result>(attempt: ToolAttempt, work: () => Result) => Result) | undefined;
}

/** Events and batch extras that are appended together with something else. */
export interface Writes {
  readonly drafts: readonly EventDraft[];
  readonly extras: BatchExtras | undefined;
}

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
  heed(call: SupervisedCall, result: ToolResult): readonly EventDraft[];
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

/** Returns the attempts that were made with the tool in use. */
export function attemptsOf({ attempts, fallback }: CallState): CallState['attempts'] {
  return fallback === undefined ? attempts : attempts.filter(({ tool }) => tool === fallback);
}

/** One execution of a tool in progress. `args`, `result` and `deadline` change on its way. */
export interface ToolAttempt {
  readonly tool: Tool;
  readonly call: EventOf<'tool_call'>;
  readonly args: unknown;
  /** Answer to the request for input of a tool with `yieldSchema`. */
  readonly input: unknown;
  /** Value that `execute` returned, for `finalize`. */
  readonly result: unknown;
  readonly attempt: number;
  readonly key: string;
  readonly deadline: number;
  readonly scope: CancelScope;
  /**
   * Called before the attempt begins a child. The first child gives the attempt more time, unless
   * the tool has a timeout of its own.
   * @throws ChildInPrepareError
   */
  beforeChild(): void;
}

/** True when nothing more may be recorded: the process stops, or another owner has taken over. */
export function isGivenBack({
  scope,
  ledger,
}: {
  readonly scope: CancelScope;
  readonly ledger: Ledger;
}): boolean {
  return givesBack(scope.reason) || ledger.failure !== undefined;
}
