import type { CancelScope } from '../../base/cancel-scope.ts';
import type { ErrorRecord } from '../../base/error.ts';
import type { JsonValue } from '../../base/json.ts';
import type {
  EventDraft,
  InvocationInput,
  InvocationMode,
  InvocationStatus,
  NextInvocation,
  StopReason,
} from '../../ledger/event.ts';
import type { BatchExtras } from '../../ledger/ledger-writer.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Activity } from './activity.ts';

/** A place in the tree of invocations and what is to run there. */
export interface Slot {
  readonly path: string;
  readonly runnable: Runnable;
  readonly mode: InvocationMode;
  readonly input?: InvocationInput | undefined;
  /** Whether it is a branch of a parallel. */
  readonly branch?: boolean;
  /** Milliseconds after which it ends as an error. */
  readonly timeout?: number | undefined;
  readonly scope: CancelScope;
  /** What waits while this waits. */
  readonly activity: Activity;
  /** Its start is in the ledger already, as it landed with something else; nothing has run yet. */
  readonly begun?: boolean;
  /** Events that land together with the start, before it. */
  readonly before?: readonly EventDraft[];
  readonly extras?: BatchExtras | undefined;
}

/** How a body ended; `undefined` instead: the run was given back, and nothing is recorded. */
export interface BodyEnd {
  readonly status: InvocationStatus;
  readonly output?: JsonValue | undefined;
  readonly error?: ErrorRecord | undefined;
  readonly stopReason?: StopReason | undefined;
  readonly next?: NextInvocation | undefined;
  /** Events that land together with the end, before it. */
  readonly before?: readonly EventDraft[];
  readonly extras?: BatchExtras | undefined;
}
