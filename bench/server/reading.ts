/** Streams to be read. */
export interface Reading {
  readonly url: string;
  readonly count: number;
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  /** Whether what is read says when it was made. @default false */
  readonly isStamped?: boolean;
  /** What stands in the last frame. */
  readonly ends: string;
}

/** What all readers have read together. */
export interface ReadingResult {
  /** Microseconds of the machine's clock when the last reader was done. */
  readonly at: number;
  readonly frames: number;
  readonly bytes: number;
  readonly deltas: number;
  /** Frames that had deltas in them; the fewer of them, the more were joined. */
  readonly deltaFrames: number;
  /** Milliseconds from the making of a delta to its reader. */
  readonly p50: number;
  readonly p99: number;
}
