import type { Event, StreamEvent } from 'adjutant';
import type { SentFrame } from '../frame.ts';

/** Frames of a stream for one event. */
export interface Told<State> {
  readonly state: State;
  readonly frames: readonly SentFrame[];
  /** Further frame after the others; it only shows the current state. @default nothing */
  readonly aside?: SentFrame;
  /** Nothing comes behind these frames. */
  readonly isOver?: boolean;
}

/**
 * Form of a stream: a pure fold whose states are never changed, so that many readers can share one
 * state. Its frames depend on the state and the event alone.
 */
export interface Telling<State> {
  /**
   * Names what is told among all that is told of a session: two of one name say the same of the
   * same events.
   */
  readonly name: string;
  /** The state before the first event. */
  readonly start: State;
  /** Prepares a durable event for the stream. @default as it is */
  readonly prepare?: (event: Event) => Promise<Event>;
  tell(state: State, event: StreamEvent): Told<State>;
}

/** Encoding of frames. */
export interface Encoding<Written> {
  readonly name: string;
  /** One frame of a replay. */
  text(frame: SentFrame): string;
  /** Frames of a replay together. */
  join(texts: readonly string[]): Written;
  /** Frames that have just come about: the same ones may be written for many readers. */
  write(frames: readonly SentFrame[]): Written;
}

/** Frames as they are handed to a reader. */
export interface Piece<Written> {
  readonly written: Written;
  /** Number of the frames. */
  readonly frames: number;
}

/** Everything that a stream says of an event. */
export function allFrames({ frames, aside }: Told<unknown>): readonly SentFrame[] {
  return aside === undefined ? frames : [...frames, aside];
}
