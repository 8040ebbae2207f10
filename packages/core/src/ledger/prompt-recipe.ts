import type { JsonValue } from '../base/json.ts';

export type HistoryScope = 'all' | 'ancestors' | 'own' | 'none';

/**
 * One segment of a prompt:
 * - `hash`: content stored once in the ledger, in `contents` of the first recipe that used it;
 * - `history`: the part of the ledger that the invocation saw up to `to`;
 * - `events`: chosen events by their `seq`, as a list of `[first, last]` ranges.
 */
export type RecipeSegment =
  | { readonly hash: string }
  | { readonly history: HistoryScope; readonly to: number }
  | { readonly events: readonly (readonly [number, number])[] };

/** Text that an asynchronous function gave for a prompt. */
export interface AwaitedText {
  /** Number of functions that write messages and come before this one, from 0. */
  readonly place: number;
  /** Hash of the message in `contents`. */
  readonly hash: string;
}

/**
 * Recipe of a prompt, so that the exact call can be shown again at constant cost per call. With the
 * ledger before it, it gives the same call options to the byte.
 */
export interface PromptRecipe {
  /**
   * Version of the encoder that turns events into messages. Encoders are never edited, only added.
   */
  readonly encoder: 1 | 2 | 3;
  /**
   * The segments. With `keep`, those after the first `keep` segments of this invocation's call
   * before.
   */
  readonly segments: readonly RecipeSegment[];
  readonly keep?: number;
  /** Longest tool result in characters; longer ones were shortened. */
  readonly resultLimit: number;
  /** Content hash of the call without its prompt: tools, tool choice and settings. */
  readonly settings: string;
  /** Contents that the ledger did not hold yet, by hash. */
  readonly contents?: { readonly [hash: string]: JsonValue };
  /** Texts that were awaited. A replay takes them from here and calls no function for them. */
  readonly awaited?: readonly AwaitedText[];
}
