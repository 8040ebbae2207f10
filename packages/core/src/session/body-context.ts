import type { ErrorRecord } from '../base/error.ts';
import type { JsonValue } from '../base/json.ts';
import type { Event, InvocationStatus } from '../ledger/event.ts';
import type { Runnable } from './runnable.ts';
import type { StateOf, StateSchema } from './state-types.ts';

/** What a child is given, and how it is known in the ledger. */
export interface CallOptions {
  /** What the child is told, as a message of its caller. */
  readonly message?: string;
  /** Structured input. */
  readonly data?: JsonValue;
  /**
   * Name of the call under its caller. Needed when equal calls must be told apart. @default
   * `<name>#<hash of the input>`
   */
  readonly key?: string;
  /**
   * Milliseconds after which the child is cancelled. @default 120_000 for agents, none for other
   * runnables
   */
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

/** What an effect works with. */
export interface EffectContext {
  /**
   * The same for every attempt whose effect might be that of an earlier one: hand it to services
   * that honour such keys.
   */
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when its time is over or the body is to stop. */
  readonly signal: AbortSignal;
}

/** What a probe has found out about an attempt. */
export type EffectProbeResult =
  | { readonly happened: true /** What the effect gives. */; readonly result?: unknown }
  | { readonly happened: false }
  | { readonly happened: 'unknown' /** Why that is so. */; readonly detail?: string };

/**
 * Finds out whether an attempt took place; its context is that of the attempt. What it throws
 * leaves the outcome unknown.
 */
export type EffectProbe = (ctx: EffectContext) => EffectProbeResult | Promise<EffectProbeResult>;

export interface EffectRetry {
  /** Attempts in all. @default 3 */
  readonly maxAttempts?: number;
  /** Milliseconds before the second attempt, unless the failure says when. @default 1_000 */
  readonly initialDelayMs?: number;
  /** @default 2 */
  readonly backoffMultiplier?: number;
}

export interface EffectOptions {
  /**
   * What is done with an attempt of which nobody knows whether it took place, because the process
   * died, the time was over or the connection was lost: the body is told by an
   * `EffectUnknownError`, it is run again under the same key, or a function finds out. The function
   * is asked about an attempt of another process only when the time of that attempt is over.
   * @default 'report'
   */
  readonly recovery?: 'report' | 'rerun' | EffectProbe;
  /** Milliseconds for one attempt. @default 30_000 */
  readonly timeout?: number;
  /**
   * Attempts after a failure that is known to have had no effect, or after any failure of an effect
   * that may be run again. @default none
   */
  readonly retry?: EffectRetry;
}

/** A session as code inside a run sees it: to read. */
export interface SessionReader {
  readonly id: string;
  readonly app: string;
  readonly events: readonly Event[];
}

/**
 * What the body of a step or a tool can use. After the invocation has ended every method throws
 * `InvocationEndedError`.
 */
export interface BodyContext<Schema extends StateSchema = StateSchema> {
  readonly invocationId: string;
  readonly session: SessionReader;
  /** Writes land with the start of the next child or the end of the body, whichever comes first. */
  readonly state: StateOf<Schema>;
  /**
   * Aborts when the run is cancelled, the time is over or the process gives the run back. Hand it
   * to `fetch`.
   */
  readonly signal: AbortSignal;
  /** Runs a child and waits for its outcome; a child that failed is an outcome too. */
  call<Output>(runnable: Runnable<Output>, options?: CallOptions): Promise<CallResult<Output>>;
  /** Starts a child beside the body. */
  spawn<Output>(runnable: Runnable<Output>, options?: CallOptions): SpawnHandle<Output>;
  /** Starts a child that nobody waits for; its failure is an event. */
  dispatch(runnable: Runnable, options?: CallOptions): { readonly invocationId: string };
  /**
   * Does something outside and records it: when the body runs again, what is recorded is given
   * back, or thrown, and `effect` is not run again. `key` names it below the body, as keys name
   * children. What it gives is JSON, or becomes it: `undefined` is `null`. It does not use `ctx`.
   * @throws EffectFailedError when it failed without an effect
   * @throws EffectUnknownError when nobody knows whether it took place
   */
  effect<Value>(
    key: string,
    effect: (ctx: EffectContext) => Value | Promise<Value>,
    options?: EffectOptions,
  ): Promise<Value>;
  /**
   * Keeps a fact: prompts hold it word for word, whatever is left out of them. It lands with the
   * writes to the state; the same fact lands once. A later fact with the same `key` takes its place
   * in prompts.
   * @throws InvalidFactError when it is empty or longer than 4,000 characters
   */
  remember(text: string, options?: { readonly key?: string }): void;
  /** Epoch milliseconds at which the invocation started: the same when the body runs again. */
  now(): number;
  /** An id that is the same when the body runs again. */
  id(key: string): string;
  /** A number in [0, 1) that is the same when the body runs again. */
  random(key: string): number;
}
