import type { ErrorRecord } from '../base/error.ts';
import type { JsonValue } from '../base/json.ts';
import type { RetryOptions } from '../base/retry-options.ts';
import type { Event, InvocationStatus } from '../ledger/event.ts';
import type { Runnable } from './runnable.ts';
import type { StateOf, StateSchema } from './state-types.ts';

/** Input and name of a child. */
export interface CallOptions {
  /** Message to the child from its caller. */
  readonly message?: string;
  /** Structured input. */
  readonly data?: JsonValue;
  /**
   * Name of the call under its caller. Required where equal calls must be told apart.
   * @default `<name>#<hash of the input>`
   */
  readonly key?: string;
  /**
   * Milliseconds after which the child is cancelled.
   * @default 120_000 for agents, none for other runnables
   */
  readonly timeoutMs?: number;
}

/** Outcome of a child. */
export interface CallResult<Output = unknown> {
  readonly invocationId: string;
  readonly status: InvocationStatus;
  readonly output: Output | undefined;
  /**
   * Confidence in the output, below 1 when it claims so itself or rests on doubted results alone;
   * missing otherwise.
   */
  readonly confidence?: number;
  readonly error?: ErrorRecord | undefined;
}

/** A child that runs beside its caller. The caller does not end before it. */
export interface SpawnHandle<Output = unknown> {
  readonly invocationId: string;
  /** Resolves when the child has ended, with any outcome. */
  wait(): Promise<CallResult<Output>>;
  /** Cancels the child. */
  abort(reason?: string): void;
  /** Lets the caller end before the child, as `dispatch` does. */
  detach(): void;
}

/** Context of an effect. */
export interface EffectContext {
  /**
   * Idempotency key, equal for all attempts that may repeat the same effect. Pass it to services
   * that accept such keys.
   */
  readonly idempotencyKey: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Aborted when its time is over or the body must stop. */
  readonly signal: AbortSignal;
}

/** Result of a probe of an attempt. */
export type EffectProbeResult =
  | { readonly happened: true /** What the effect gives. */; readonly result?: unknown }
  | { readonly happened: false }
  | { readonly happened: 'unknown' /** Why that is so. */; readonly detail?: string };

/**
 * Finds out if an attempt took place; its context is that of the attempt. An error leaves the
 * outcome unknown.
 */
export type EffectProbe = (ctx: EffectContext) => EffectProbeResult | Promise<EffectProbeResult>;

export interface EffectOptions {
  /**
   * Reaction to an attempt of unknown outcome, because the process died, the time was over or the
   * connection was lost. `report`: the body gets an `EffectUnknownError`. `rerun`: the effect runs
   * again under the same key. A function finds out if the attempt took place. It is asked about an
   * attempt of another process only when the time of that attempt is over.
   * @default 'report'
   */
  readonly recovery?: 'report' | 'rerun' | EffectProbe;
  /** Milliseconds for one attempt. @default 30_000 */
  readonly timeoutMs?: number;
  /**
   * Retries after a failure that is known to have had no effect, or after any failure of an effect
   * that may run again. A time that the failure gives takes the place of the delay.
   * @default none
   */
  readonly retry?: RetryOptions;
}

/** Read-only view of a session for code inside a run. */
export interface SessionReader {
  readonly id: string;
  readonly app: string;
  readonly events: readonly Event[];
}

/**
 * Context of the body of a step or tool. After the invocation has ended, every method throws
 * `InvocationEndedError`.
 */
export interface BodyContext<Schema extends StateSchema = StateSchema> {
  readonly invocationId: string;
  readonly session: SessionReader;
  /** Writes land with the start of the next child or the end of the body, whichever comes first. */
  readonly state: StateOf<Schema>;
  /**
   * Aborts when the run is cancelled, its time is over or the process releases it. Pass it to
   * `fetch`.
   */
  readonly signal: AbortSignal;
  /**
   * Runs a child and waits for its outcome; a child that failed is an outcome too.
   * @example
   * ```ts
   * import { runtime, step } from 'adjutant';
   *
   * const price = step({ name: 'price', execute: (ctx) => ctx.complete(42) });
   * const quote = step({
   *   name: 'quote',
   *   execute: async (ctx) => {
   *     const { status, output } = await ctx.call(price);
   *     return ctx.complete({ status, output });
   *   },
   * });
   * console.log((await runtime({ app: 'shop', runnables: [price] }).run(quote)).output);
   * ```
   */
  call<Output>(runnable: Runnable<Output>, options?: CallOptions): Promise<CallResult<Output>>;
  /** Starts a child beside the body. */
  spawn<Output>(runnable: Runnable<Output>, options?: CallOptions): SpawnHandle<Output>;
  /** Starts a child that the caller does not wait for; its failure is an event. */
  dispatch(runnable: Runnable, options?: CallOptions): { readonly invocationId: string };
  /**
   * Runs an effect and records its result. When the body runs again, the recorded result is
   * returned or thrown, and `effect` is not run again. `key` names it below the body, as keys name
   * children. Its result is JSON, or becomes it: `undefined` is `null`. The effect does not use
   * `ctx`.
   * @throws EffectFailedError when it failed without an effect
   * @throws EffectUnknownError when it is unknown if it took place
   * @example
   * ```ts
   * import { runtime, step } from 'adjutant';
   *
   * const order = step({
   *   name: 'order',
   *   execute: async (ctx) => {
   *     // Done once, however often the step runs: the key is the idempotency key.
   *     const id = await ctx.effect('place', async () => 'order-7');
   *     return ctx.complete(id);
   *   },
   * });
   * console.log((await runtime({ app: 'shop' }).run(order)).output);
   * ```
   */
  effect<Value>(
    key: string,
    effect: (ctx: EffectContext) => Value | Promise<Value>,
    options?: EffectOptions,
  ): Promise<Value>;
  /**
   * Publishes an event, in the append that records it: it is published once, however often the body
   * runs. Those who subscribe durably, such as triggers, get it once. A fork publishes nothing.
   * @param options `key` names the publication below the body. @default a hash of the event
   * @throws InvalidBusEventError
   * @example
   * ```ts
   * import { runtime, step } from 'adjutant';
   *
   * const order = step({
   *   name: 'order',
   *   execute: async (ctx) => {
   *     await ctx.publish({ type: 'order.placed', data: { id: 'order-7' } });
   *     return ctx.complete('placed');
   *   },
   * });
   * console.log((await runtime({ app: 'shop' }).run(order)).output);
   * ```
   */
  publish(
    event: { readonly type: string; readonly source?: string; readonly data?: JsonValue },
    options?: { readonly key?: string },
  ): Promise<void>;
  /**
   * Records a fact: prompts hold it word for word, even when other events are left out. It lands
   * with the writes to the state, and the same fact lands once. A later fact with the same `key`
   * replaces it in prompts.
   * @throws InvalidFactError when it is empty or longer than 4,000 characters
   */
  remember(text: string, options?: { readonly key?: string }): void;
  /** Epoch milliseconds of the start of the invocation: the same when the body runs again. */
  now(): number;
  /** Makes an id that is the same when the body runs again. */
  id(key: string): string;
  /** Makes a number in [0, 1) that is the same when the body runs again. */
  random(key: string): number;
}
