import type { JsonValue } from '../base/json.ts';
import type { BodyContext } from '../session/body-context.ts';
import type { StateSchema } from '../session/state-types.ts';

/** The context of a call for the functions of its tool. */
export interface ToolContext<
  Args = unknown,
  Schema extends StateSchema = StateSchema,
  Input = unknown,
> extends BodyContext<Schema> {
  readonly args: Args;
  /**
   * The validated input of a person or another process, for a tool with `yieldSchema`. `undefined`
   * in `prepare`, and in the options that ask for it.
   */
  readonly input: Input;
  readonly callId: string;
  readonly toolName: string;
  /** Name of the agent that calls. */
  readonly agent: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /**
   * The same for every attempt whose effect might be that of an earlier one: hand it to services
   * that honour such keys.
   */
  readonly idempotencyKey: string;
  /** Grows with every owner of the session: a fencing token for services that take one. */
  readonly epoch: number;
  /**
   * Epoch milliseconds at which the attempt times out; later once it has called a runnable, unless
   * the tool has a `timeoutMs`.
   */
  readonly deadline: number | undefined;
  /** Streams a `tool_progress` event; nothing of it is stored. */
  progress(data: JsonValue): void;
}

/** The context of `finalize`: that of the call, with the result of `execute`. */
export interface FinalizeContext<
  Args = unknown,
  Output = unknown,
  Schema extends StateSchema = StateSchema,
  Input = unknown,
> extends ToolContext<Args, Schema, Input> {
  /** The awaited result of `execute`. */
  readonly result: Output;
}

/** The context of a probe: the call and the attempt in question. */
export interface ProbeContext<Args = unknown> {
  /** The prepared arguments. */
  readonly args: Args;
  readonly callId: string;
  readonly toolName: string;
  readonly attempt: number;
  /** The key that the attempt was made under. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}
