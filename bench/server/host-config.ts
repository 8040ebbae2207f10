/** Settings of a process that a benchmark serves from. */
export type HostConfig =
  | {
      readonly kind: 'adjutant';
      readonly store:
        | { readonly kind: 'memory' }
        | { readonly kind: 'sqlite'; readonly path: string }
        | PostgresPlace;
      readonly heartbeat?: number;
    }
  | { readonly kind: 'bare'; readonly heartbeat?: number }
  | { readonly kind: 'ai-sdk' };

interface PostgresPlace {
  readonly kind: 'postgres';
  readonly url: string;
  readonly schema: string;
}

export interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
}

/**
 * Milliseconds that others had to wait, and of processor time, which other programs of the machine
 * do not make longer.
 */
export interface Turn {
  readonly wait: number;
  readonly cpu: number;
}

/** Answers of a host, each to the message of its name. */
export interface HostAnswers {
  readonly memory: Memory;
  /** Microseconds of processor that the process has used. */
  readonly cpu: number;
  /** The longest turn of the event loop since this was asked for last. */
  readonly longestTurn: Turn;
}
