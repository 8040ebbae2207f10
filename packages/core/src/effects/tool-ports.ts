import { type CancelScope, givesBack } from '../base/cancel-scope.ts';
import type { Clock } from '../base/clock.ts';
import type { EventDraft, EventOf, NextInvocation } from '../ledger/event.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { BatchExtras } from '../ledger/ledger-writer.ts';
import type { Runnable } from '../ledger/runnable.ts';
import type { ToolResult } from '../ledger/tool-result.ts';
import type { FinalizeContext, Tool } from '../tools/tool.ts';

/** The context that the engine makes for one attempt, and what is to land with its result. */
export interface ToolBody {
  readonly context: FinalizeContext;
  /** State changes that the tool made, to be appended with its result. */
  takeWrites(): { readonly drafts: readonly EventDraft[]; readonly extras: BatchExtras | undefined };
  /** From now on the context refuses everything that would be recorded. */
  close(): void;
  /** Waits for children that the tool called and did not await; `stop` ends them first. `undefined`: there are none. */
  endChildren(stop: boolean): Promise<void> | undefined;
  /** The result, and in its metadata what was refused of the shared writes that landed with children that the tool did not wait for. */
  withConflict(result: ToolResult): ToolResult;
  /** Records and says that the code no longer asks for children or effects that the call had open; `undefined`: it asked for all of them. */
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
  /** Resolves at a time in epoch milliseconds, or when the call is told to stop. */
  sleepUntil(at: number): Promise<void>;
  makeBody(attempt: ToolAttempt): ToolBody;
  /** Checks a hand-over to another runnable; gives what is recorded, or why it is refused. */
  handOver(target: Runnable): { readonly next: NextInvocation; readonly drafts: readonly EventDraft[] } | { readonly refused: string };
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
  /** To be called before the attempt begins a child: its first gives it more time, unless the tool has a timeout of its own. @throws ChildInPrepareError */
  beforeChild(): void;
}

/** Whether nothing more may be recorded: the process stops, or another owner has taken over. */
export function isGivenBack({ scope, ledger }: { readonly scope: CancelScope; readonly ledger: Ledger }): boolean {
  return givesBack(scope.reason) || ledger.failure !== undefined;
}
