import type { StoreTime } from './store-time.ts';
import type { TurnPatch } from './turns.ts';

/** The ownership of a ledger, as `claim` returns it. */
export interface Claim extends StoreTime {
  readonly session: string;
  readonly owner: string;
  readonly epoch: number;
  /** `seq` of the last event at the time of the claim. */
  readonly seq: number;
  readonly inboxSeq: number;
  /** Epoch milliseconds, by the store's clock, at which the lease ends unless it is renewed. */
  readonly until: number;
}

export interface ClaimOptions {
  /** Milliseconds that the lease lasts from the claim and from every append and renewal. */
  readonly ttlMs: number;
  /** True to take the ledger over from a live owner. @default false */
  readonly force?: boolean;
}

export interface ReleaseOptions {
  /**
   * Position of the last inbox item that the writer has seen. The lease is kept when a newer one
   * was posted.
   * @default the lease is released in any case
   */
  readonly inboxSeq?: number | undefined;
  /** Next state of the session's turn. @default ready when the session is due, else resting */
  readonly turn?: TurnPatch | undefined;
}

export interface ReleaseReceipt extends StoreTime {
  /** False when the lease was kept because of a newer inbox item. */
  readonly released: boolean;
  readonly inboxSeq: number;
}
