import type { JsonValue } from '../base/json.ts';

/** Two values that should be one, and where they lie in what was compared: `prompt[0].content`. */
export interface Difference {
  readonly path: string;
  /** Missing: there was nothing. */
  readonly recorded?: JsonValue;
  /** Missing: there is nothing. */
  readonly replayed?: JsonValue;
}

/**
 * What differs: what a model is given (`prompt`), what a tool is called with (`arguments`), what is
 * done at all, and in which order (`control_flow`), what is written to the state (`state`), or what
 * came of something (`outcome`).
 */
export type DivergenceKind = 'prompt' | 'arguments' | 'control_flow' | 'state' | 'outcome';

/** A place at which code does something else than what is recorded. */
export interface Divergence {
  /** The recorded event that differs. */
  readonly seq: number;
  /** Path of the invocation; empty for what belongs to none. */
  readonly path: string;
  readonly kind: DivergenceKind;
  /** A sentence that names it. */
  readonly subject: string;
  /**
   * What is compared of the recorded event; missing when something was done that is not recorded.
   */
  readonly recorded?: JsonValue;
  /** What is compared of what was done now; missing when it was not done. */
  readonly replayed?: JsonValue;
  readonly differences: readonly Difference[];
}
