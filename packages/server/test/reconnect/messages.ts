/** Message to the server's process. */
export type ServerCommand =
  | { readonly type: 'start'; readonly session: string; readonly run: string }
  | { readonly type: 'memory' }
  | { readonly type: 'approve' }
  | { readonly type: 'ledger'; readonly session: string }
  | { readonly type: 'close' };

/** Message of the server's process. */
export type ServerReport =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'started'; readonly run: string }
  /** Bytes, after the garbage collector; how many ledgers are followed. */
  | {
      readonly type: 'memory';
      readonly heapUsed: number;
      readonly rss: number;
      readonly followers: number;
    }
  | { readonly type: 'approved'; readonly count: number }
  /** The events of a session, each as JSON. */
  | { readonly type: 'ledger'; readonly session: string; readonly events: readonly string[] };
