import type { CancelScope } from '../../base/cancel-scope.ts';
import type { ErrorRecord } from '../../base/error.ts';
import type { JsonValue } from '../../base/json.ts';
import type {
  EventDraft,
  InputOrigin,
  InvocationInput,
  InvocationKind,
  InvocationMode,
  InvocationStatus,
  NextInvocation,
  StopReason,
} from '../../ledger/event.ts';
import type { BatchExtras } from '../../ledger/ledger-writer.ts';
import type { Question, Sleep } from '../../runnables/waits.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Activity } from './activity.ts';

/** Wait of a body: a child that only the engine makes. */
export type Wait = Question | Sleep;

/** Everything that has an invocation. */
export type Invokable = Runnable | Wait;

/** True for a question or a sleep, and for the record of one. */
export function isWait(invokable: Wait | { readonly kind: InvocationKind }): invokable is Wait {
  return invokable.kind === 'question' || invokable.kind === 'sleep';
}

/** Place in the tree of invocations, with the runnable that runs there. */
export interface Slot {
  readonly path: string;
  readonly runnable: Invokable;
  readonly mode: InvocationMode;
  readonly input?: InvocationInput | undefined;
  /** Origin of an input that no caller gave. */
  readonly inputFrom?: InputOrigin | undefined;
  /** Lane of the run, for its root. */
  readonly lane?: string | undefined;
  /** Name of the model in the place of the agent's own, for the root. */
  readonly model?: string | undefined;
  /** True for a branch of a parallel. */
  readonly branch?: boolean;
  /** Milliseconds after which the invocation ends as an error. */
  readonly timeoutMs?: number | undefined;
  readonly scope: CancelScope;
  /** Node that waits while this slot waits. */
  readonly activity: Activity;
  /**
   * True when the start is in the ledger already, landed with another append. Nothing has run yet.
   */
  readonly begun?: boolean;
  /** Events that land together with the start, before it. */
  readonly before?: readonly EventDraft[];
  readonly extras?: BatchExtras | undefined;
}

/**
 * End of a body. `undefined` in its place means that the run was released, and nothing is recorded.
 */
export interface BodyEnd {
  readonly status: InvocationStatus;
  readonly output?: JsonValue | undefined;
  readonly error?: ErrorRecord | undefined;
  readonly stopReason?: StopReason | undefined;
  readonly next?: NextInvocation | undefined;
  /** Events that land together with the end, before it. */
  readonly before?: readonly EventDraft[];
  readonly extras?: BatchExtras | undefined;
  /** Start of the work after a run. It lands with the end, whatever that turns out to be. */
  readonly followUp?: { readonly start: EventDraft; readonly wakeAt: number } | undefined;
  /** True for a wait whose body has ended without it: what it asked is withdrawn. */
  readonly isLeft?: boolean;
}
