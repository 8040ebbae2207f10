import type { ErrorRecord } from '../../base/error.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Envelope } from './envelope.ts';

export type RunnableKind =
  | 'agent'
  | 'step'
  | 'sequence'
  | 'parallel'
  | 'loop'
  | 'plan'
  | 'graph'
  | 'router';

/**
 * Kind of an invocation: that of its runnable, or a wait of a step. A `question` waits for an
 * answer, a `sleep` for an instant.
 */
export type InvocationKind = RunnableKind | 'question' | 'sleep';

/** Origin of an invocation. `child` is a part of a sequence, parallel or loop. */
export type InvocationMode = 'root' | 'child' | 'call' | 'spawn' | 'dispatch' | 'transfer';

export type InvocationStatus = 'completed' | 'error' | 'cancelled' | 'transferred';

/**
 * Reason why a run gave less than it was asked for.
 * - `round_limit`, `token_limit`, `cost_limit`, `error_limit`: a limit of the run or agent.
 * - `output_limit`: the longest answer that the model may give.
 * - `loop`: calls that led nowhere.
 * - `goal_unmet`: an answer that does not do what was asked.
 * - `refused`: the app did not admit the run.
 */
export type StopReason =
  | 'round_limit'
  | 'token_limit'
  | 'cost_limit'
  | 'error_limit'
  | 'output_limit'
  | 'loop'
  | 'goal_unmet'
  | 'refused';

export interface InvocationInput {
  readonly message?: string;
  readonly data?: JsonValue;
}

/** Runnable that continues a slot after a handoff, by its name in the app. */
export interface NextInvocation {
  readonly name: string;
  readonly input?: InvocationInput;
}

/** Place that the input of a part comes from. */
export type InputOrigin = 'parent' | 'sibling';

export interface InvocationStartEvent extends Envelope<'invocation_start'> {
  readonly invocationId: string;
  readonly parent?: string;
  readonly kind: InvocationKind;
  readonly name: string;
  readonly version?: string;
  readonly mode: InvocationMode;
  readonly input?: InvocationInput;
  readonly inputHash?: string;
  /**
   * Origin of an input that no caller gave: `parent` when it is that of the sequence, parallel or
   * loop around it, `sibling` when it is the output of the part or iteration before.
   */
  readonly inputFrom?: InputOrigin;
  /** True when the invocation writes session state to an overlay of its own until the join. */
  readonly branch?: true;
  /** Epoch milliseconds. */
  readonly deadline?: number;
  /** W3C `traceparent` of the span of the run from here on. Only for roots in traced apps. */
  readonly trace?: string;
  /** Lane of the run. Only for roots. @default the default lane, which has no name */
  readonly lane?: string;
  /** Name of the model that answers in the place of the agent's own. Only for roots. */
  readonly model?: string;
}

export interface InvocationYieldEvent extends Envelope<'invocation_yield'> {
  readonly invocationId: string;
  /**
   * Reason for the wait: a message, an answer to a request, an instant; `pause` when a person or
   * the app asked for it.
   */
  readonly reason: 'input' | 'tool_input' | 'sleep' | 'pause';
  /** Epoch milliseconds at which a run that waits for nothing but a message is cancelled. */
  readonly expiresAt?: number;
  /** Set when a later process recorded it, which had not worked on the invocation. */
  readonly late?: true;
}

export interface InvocationResumeEvent extends Envelope<'invocation_resume'> {
  readonly invocationId: string;
  readonly deadline?: number;
  /** As in `invocation_start`. */
  readonly trace?: string;
}

export interface InvocationEndEvent extends Envelope<'invocation_end'> {
  readonly invocationId: string;
  readonly status: InvocationStatus;
  readonly output?: JsonValue;
  readonly error?: ErrorRecord;
  readonly stopReason?: StopReason;
  readonly next?: NextInvocation;
}

export interface InvocationReopenEvent extends Envelope<'invocation_reopen'> {
  readonly invocationId: string;
  readonly reason: string;
  /**
   * Ids of the effects whose unknown outcome no longer counts. When the body runs again, they are
   * what somebody has told, or are judged by their present `recovery`.
   */
  readonly effects?: readonly string[];
}

export interface HandoffEvent extends Envelope<'handoff'> {
  readonly from: string;
  readonly to: string;
  readonly reason?: string;
  readonly depth: number;
}

export interface CancelEvent extends Envelope<'cancel'> {
  readonly reason?: string;
}
