import type { JsonValue } from '../base/json.ts';

/** Two values that should be equal, and their path in the compared value: `prompt[0].content`. */
export interface Difference {
  readonly path: string;
  /** Missing: there was nothing. */
  readonly recorded?: JsonValue;
  /** Missing: there is nothing. */
  readonly replayed?: JsonValue;
}

/**
 * The kind of a difference. `prompt`: the prompt of a model. `arguments`: the arguments of a tool.
 * `control_flow`: the actions and their order. `state`: a write to the state. `outcome`: the
 * outcome of a call.
 */
export type DivergenceKind = 'prompt' | 'arguments' | 'control_flow' | 'state' | 'outcome';

/** A place at which code does something else than is recorded. */
export interface Divergence {
  /** The recorded event that differs. */
  readonly seq: number;
  /** Path of the invocation; empty for an event that belongs to none. */
  readonly path: string;
  readonly kind: DivergenceKind;
  /** A sentence that names the difference. */
  readonly subject: string;
  /** The compared members of the recorded event; missing when the record has no such event. */
  readonly recorded?: JsonValue;
  /** The compared members of the event of now; missing when no event came. */
  readonly replayed?: JsonValue;
  readonly differences: readonly Difference[];
}
