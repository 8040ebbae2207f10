import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Usage } from '../ledger/event.ts';

/**
 * The receiver of deltas while they arrive. Called synchronously, once for each delta, in order.
 */
export interface DeltaSink {
  text(delta: string): void;
  thought(delta: string): void;
  toolArgs(providerCallId: string, name: string, delta: string): void;
}

/**
 * A whole answer of a model, without the work of providers themselves (their own tools, sources,
 * files).
 */
export interface ModelAnswer {
  readonly thoughts: readonly ModelText[];
  readonly texts: readonly ModelText[];
  readonly toolCalls: readonly ModelToolCall[];
  /** `undefined` when the provider did not report it. */
  readonly usage: Usage | undefined;
  readonly finishReason: string | undefined;
  /** The provider's own word for it. */
  readonly rawFinishReason?: string | undefined;
  /** `clock.monotonic()` at the first delta. */
  readonly firstPartAt: number | undefined;
}

export interface ModelText {
  readonly text: string;
  /** Data that the provider wants back with this text in the next prompt, such as a signature. */
  readonly providerMetadata?: JsonObject;
}

export interface ModelToolCall {
  readonly providerCallId: string;
  readonly name: string;
  readonly args: JsonValue;
  /** The reason why the arguments are not JSON; `args` is then the raw text. */
  readonly invalid?: string;
  readonly providerMetadata?: JsonObject;
}
