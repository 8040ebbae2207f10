import type { CancelScope } from '../../base/cancel-scope.ts';
import type { Clock } from '../../base/clock.ts';
import type { EventDraft, EventOf, NextInvocation } from '../../ledger/event.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ToolResult } from '../../ledger/tool-result.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { FinalizeContext, Tool } from '../../tools/tool.ts';
import type { ResolvedDefaults } from '../runtime-defaults.ts';
import type { Writes } from '../writes.ts';
import type { ToolSupervisor } from './supervisor.ts';

/**
 * Context that the engine makes for one attempt, and the writes that are recorded with its result.
 */
export interface ToolBody {
  readonly context: FinalizeContext;
  /** Takes the state changes that the tool made, to be appended with its result. */
  takeWrites(): Writes;
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
  readonly released: Promise<void>;
}

export interface ToolCallPorts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly scope: CancelScope;
  readonly path: string;
  /** Settings of the app that hold where the tool has none of its own. */
  readonly defaults: ResolvedDefaults;
  /** Returns the tool of the agent with this name. */
  find(name: string): Tool | undefined;
  readonly names: readonly string[];
  /** True when the model has read the list of the tools after an earlier call of an unknown one. */
  readonly hasListedNames: boolean;
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
   * @param back true when a target that has had the turn may get it back
   */
  planHandoff(
    target: Runnable,
    back: boolean,
  ):
    | { readonly next: NextInvocation; readonly drafts: readonly EventDraft[] }
    | { readonly refused: string };
  /** Supervisor of the calls. Missing where nothing supervises them. */
  readonly supervisor?: ToolSupervisor | undefined;
  /** Wrapper around the execution of a tool. Missing where there is none. */
  readonly around?:
    | (<Result>(attempt: ToolAttempt, work: () => Promise<Result>) => Promise<Result>)
    | undefined;
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
