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

/** The context that the engine makes for one attempt, and what is to land with its result. */
export interface ToolBody {
  readonly context: FinalizeContext;
  /** State changes that the tool made, to be appended with its result. */
  takeWrites(): {
    readonly drafts: readonly EventDraft[];
    readonly extras: BatchExtras | undefined;
  };
  /** From now on the context refuses everything that would be recorded. */
  close(): void;
  /**
   * Waits for children that the tool called and did not await; `stop` ends them first. `undefined`:
   * there are none.
   */
  endChildren(stop: boolean): Promise<void> | undefined;
  /**
   * The result, and in its metadata what was refused of the shared writes that landed with children
   * that the tool did not wait for.
   */
  withConflict(result: ToolResult): ToolResult;
  /**
   * Records and says that the code no longer asks for children or effects that the call had open;
   * `undefined`: it asked for all of them.
   */
  findDrift(): ToolResult | undefined;
  /** Resolves when a child of the call gave the run back: the call then stays open. */
  readonly suspended: Promise<void>;
}

export interface ToolCallPorts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly scope: CancelScope;
  readonly path: string;
  /** Tools by name, as the agent has them. */
  find(name: string): Tool | undefined;
  readonly names: readonly string[];
  /** Whether everything that a call has begun waits for somebody outside. */
  isWaiting(callId: string): boolean;
  /**
   * Children and effects of a call; `open` names one that has not ended. `undefined`: the call has
   * begun none.
   */
  begunBelow(callId: string): { readonly open: string | undefined } | undefined;
  /** Resolves at a time in epoch milliseconds, or when the call is told to stop. */
  sleepUntil(at: number): Promise<void>;
  makeBody(attempt: ToolAttempt): ToolBody;
  /** Checks a hand-over to another runnable; gives what is recorded, or why it is refused. */
  handOver(
    target: Runnable,
  ):
    | { readonly next: NextInvocation; readonly drafts: readonly EventDraft[] }
    | { readonly refused: string };
  /** What watches over the calls; missing where nothing does. */
  readonly supervisor?: ToolSupervisor | undefined;
  /** What lies around the execution of a tool; missing where nothing does. */
  readonly around?: (<Result>(attempt: ToolAttempt, work: () => Result) => Result) | undefined;
}

/** What is to be appended together with something else. */
export interface Writes {
  readonly drafts: readonly EventDraft[];
  readonly extras: BatchExtras | undefined;
}

/** A call as supervision sees it. */
export interface SupervisedCall {
  readonly state: CallState;
  /** The tool that is run, which may stand in for the one that was asked for. */
  readonly tool: Tool;
  /** The prepared arguments. */
  readonly args: unknown;
  readonly attempt: number;
}

/**
 * Why a call is checked: nothing of it was checked before (`first`), a person has edited the
 * arguments (`edited`) or allowed them as they are (`approved`), or it is tried again (`again`).
 * What was decided is written down the first time, and when a call is refused.
 */
export type CheckMode = 'first' | 'edited' | 'approved' | 'again';

/** What the checks before an attempt have found, when there is anything. */
export interface CheckedCall {
  /** What is recorded in the place of an attempt. */
  readonly refused?: SupervisedResult;
  /** Other arguments. */
  readonly args?: JsonValue;
  /** What the model is told with the result. */
  readonly guidance: readonly string[];
  /** What a person is to confirm first. */
  readonly confirm?: string | undefined;
  readonly writes: Writes;
}

/** An attempt that has ended. */
export interface EndedAttempt extends SupervisedCall {
  readonly result: ToolResult;
  readonly effect: ToolEffect | undefined;
  readonly retryAfterMs: number | undefined;
  readonly guidance: readonly string[];
  /** The run is cancelled: the result is settled as it comes out of the checks. */
  readonly isLast: boolean;
}

/** What becomes of a call. */
export interface SupervisedResult {
  readonly result: ToolResult;
  readonly notes: readonly string[];
  readonly writes: Writes;
  /** Milliseconds to the next attempt; missing when the call is settled. */
  readonly retryAfterMs?: number;
  /** The tool that the next attempt is made with. */
  readonly fallback?: string;
  /** A person is to say what becomes of it. */
  readonly asks?: true;
}

/**
 * Watches over the calls of an agent. Everything is answered at once, unless a hook or an error
 * handler is asked.
 */
export interface ToolSupervisor {
  /** Checks a call before it is attempted; `undefined` when there is nothing to say. */
  check(
    call: SupervisedCall,
    mode: CheckMode,
  ): CheckedCall | undefined | Promise<CheckedCall | undefined>;
  /** The last check, right before the attempt: whether the tool is left alone for a while. */
  admit(call: SupervisedCall): CheckedCall | undefined;
  /** Takes in whether a tool that was run works; gives what is to be recorded with the result. */
  heed(call: SupervisedCall, result: ToolResult): readonly EventDraft[];
  /** What becomes of a call after an attempt. */
  ended(attempt: EndedAttempt): SupervisedResult | Promise<SupervisedResult>;
  /** Looks at what a tool gave after its call was settled without it; nothing follows from it. */
  late(attempt: EndedAttempt): SupervisedResult;
  /**
   * What is recorded of the end of an attempt is about to be in the ledger, in a replay: what hooks
   * have written lands with it.
   */
  landing(callId: string, events: readonly Event[]): void;
  /**
   * What becomes of a call that cannot be attempted: there is no such tool, or its arguments do not
   * fit.
   */
  refused(state: CallState, tool: Tool | undefined, result: ToolResult): SupervisedResult;
  /** What becomes of a call whose fallback tool cannot be run either. */
  withoutFallback(state: CallState, why: string): SupervisedResult;
}

/** Attempts that were made with the tool that is in use. */
export function attemptsOf({ attempts, fallback }: CallState): CallState['attempts'] {
  return fallback === undefined ? attempts : attempts.filter(({ tool }) => tool === fallback);
}

/** One execution of a tool in the making. `args`, `result` and `deadline` change on its way. */
export interface ToolAttempt {
  readonly tool: Tool;
  readonly call: EventOf<'tool_call'>;
  readonly args: unknown;
  /** What somebody outside gave, for a tool with `yieldSchema`. */
  readonly input: unknown;
  /** What `execute` gave, for `finalize`. */
  readonly result: unknown;
  readonly attempt: number;
  readonly key: string;
  readonly deadline: number;
  readonly scope: CancelScope;
  /**
   * To be called before the attempt begins a child: its first gives it more time, unless the tool
   * has a timeout of its own. @throws ChildInPrepareError
   */
  beforeChild(): void;
}

/** Whether nothing more may be recorded: the process stops, or another owner has taken over. */
export function isGivenBack({
  scope,
  ledger,
}: {
  readonly scope: CancelScope;
  readonly ledger: Ledger;
}): boolean {
  return givesBack(scope.reason) || ledger.failure !== undefined;
}
