/** Streams to be read. */
export interface Reading {
  readonly url: string;
  readonly count: number;
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  /** True when the read text says when it was made. @default false */
  readonly isStamped?: boolean;
  /** Text of the last frame. */
  readonly ends: string;
}

/** Sum of the reading of all readers. */
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
