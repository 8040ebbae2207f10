import type { JsonValue } from '../base/json.ts';

export type HistoryScope = 'all' | 'ancestors' | 'own' | 'none';

/**
 * One stretch of a prompt:
 * - `hash`: content stored once in the ledger, in `contents` of the first recipe that used it;
 * - `history`: what the invocation saw of the ledger up to `to`;
 * - `events`: chosen events by their `seq`, as a list of `[first, last]` ranges.
 */
export type RecipeSegment =
  | { readonly hash: string }
  | { readonly history: HistoryScope; readonly to: number }
  | { readonly events: readonly (readonly [number, number])[] };

/**
 * How a prompt was made, so that the exact call can be shown again at constant cost per call.
 * With the ledger before it, it gives the same call options to the byte.
 */
export interface PromptRecipe {
  /**
   * Version of the encoder that turns events into messages. Encoders are never edited, only added.
   */
  readonly encoder: 1 | 2 | 3;
  /**
   * The stretches, or how many stretches at the front are the same as in the call before of this
   * invocation.
   */
  readonly segments: readonly RecipeSegment[];
  readonly keep?: number;
  /** Longest tool result in characters; longer ones were shortened. */
  readonly resultLimit: number;
  /** Content hash of everything in the call but the prompt (tools, tool choice, settings). */
  readonly settings: string;
  /** Contents that the ledger did not hold yet, by hash. */
  readonly contents?: { readonly [hash: string]: JsonValue };
}
