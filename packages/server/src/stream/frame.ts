import type { StreamEvent } from 'adjutant';

/** One thing that a stream says. */
export interface Frame {
  readonly event: string;
  /** JSON. */
  readonly data: object;
  /**
   * It is made of more than durable events, or only repeats what they say: no reader needs it, and
   * it has no id. @default false
   */
  readonly isTransient?: boolean;
}

/** A frame as it is sent. */
export interface SentFrame {
  /** Where the stream goes on behind this frame; missing on what is not repeated. */
  readonly id?: string;
  readonly event: string;
  readonly data: object;
}

/** Result of one event in a profile. */
export interface Folded<State> {
  readonly state: State;
  readonly frames: readonly Frame[];
}

/**
 * Form of a stream: a pure fold over its events. Except for transient frames, the frames of durable
 * events depend on durable events alone. So a stream that was cut tells the rest in the same words.
 */
export interface Profile<State> {
  readonly start: State;
  fold(state: State, event: StreamEvent): Folded<State>;
  /**
   * The state in which a stream goes on for a reader of whom nobody knows how much of the transient
   * frames it has.
   */
  resumed(state: State): State;
}
