import type { HeldReading } from './spellings/held-text.ts';

/** The receiver of the parts of an answer while it is read. */
export interface AnswerSink {
  /** A part of the thoughts. `first`: a new thought begins. */
  thought(delta: string, first: boolean): void;
  /** A part of the text for the user. */
  text(delta: string, first: boolean): void;
}

/** An action as it was written, and its reading if it had no marker. */
export interface WrittenAction {
  readonly written: string;
  readonly read?: Exclude<HeldReading, { type: 'text' }>;
}
