import type { ErrorRecord } from '../base/error.ts';
import type { JsonValue } from '../base/json.ts';
import type { Event, InvocationStatus } from './event.ts';
import type { Runnable } from './runnable.ts';
import type { StateOf, StateSchema } from './state-types.ts';

/** What a child is given, and how it is known in the ledger. */
export interface CallOptions {
  /** What the child is told, as a message of its caller. */
  readonly message?: string;
  /** Structured input. */
  readonly data?: JsonValue;
  /** Name of the call under its caller. Needed when equal calls must be told apart. @default `<name>#<hash of the input>` */
  readonly key?: string;
  /** Milliseconds after which the child is cancelled. @default 120_000 for agents, none for other runnables */
  readonly timeout?: number;
}

/** How a child ended. */
export interface CallResult<Output = unknown> {
  readonly invocationId: string;
  readonly status: InvocationStatus;
  readonly output: Output | undefined;
  readonly error?: ErrorRecord | undefined;
}

/** A child that runs beside its caller. The caller does not end before it. */
export interface SpawnHandle<Output = unknown> {
  readonly invocationId: string;
  /** Resolves when the child has ended, however it ended. */
  wait(): Promise<CallResult<Output>>;
  /** Cancels the child. */
  abort(reason?: string): void;
  /** Lets the caller end before the child, as `dispatch` does. */
  detach(): void;
}

/** A session as code inside a run sees it: to read. */
export interface SessionReader {
  readonly id: string;
  readonly app: string;
  readonly events: readonly Event[];
}

/** What the body of a step or a tool can use. After the invocation has ended every method throws `InvocationEndedError`. */
export interface BodyContext<Schema extends StateSchema = StateSchema> {
  readonly invocationId: string;
  readonly session: SessionReader;
  /** Writes land with the start of the next child or the end of the body, whichever comes first. */
  readonly state: StateOf<Schema>;
  /** Aborts when the run is cancelled, the time is over or the process gives the run back. Hand it to `fetch`. */
  readonly signal: AbortSignal;
  /** Runs a child and waits for its outcome; a child that failed is an outcome too. */
  call<Output>(runnable: Runnable<Output>, options?: CallOptions): Promise<CallResult<Output>>;
  /** Starts a child beside the body. */
  spawn<Output>(runnable: Runnable<Output>, options?: CallOptions): SpawnHandle<Output>;
  /** Starts a child that nobody waits for; its failure is an event. */
  dispatch(runnable: Runnable, options?: CallOptions): { readonly invocationId: string };
  /** Epoch milliseconds at which the invocation started: the same when the body runs again. */
  now(): number;
  /** An id that is the same when the body runs again. */
  id(key: string): string;
  /** A number in [0, 1) that is the same when the body runs again. */
  random(key: string): number;
}
