/** Settings of a process of the tests, with the places that it shares with the others. */
export interface ServerOrder {
  readonly postgres: { readonly url: string; readonly schema: string };
  /** @default none: what is streamed stays in the process */
  readonly redis?: { readonly url: string; readonly prefix: string };
  /** File in which tools note that they were executed. */
  readonly effects: string;
  /** Milliseconds that a process may be silent. @default that of the runtime */
  readonly lease?: number;
}

/** Message to a process. */
export type ServerCommand =
  /** Models may write so many pieces more, or whatever they have. */
  | { readonly type: 'write'; readonly pieces: number | 'all' }
  /** Tools that wait may end. */
  | { readonly type: 'finish' };

/** Message of a process. */
export type ServerReport = { readonly type: 'listening'; readonly url: string };
