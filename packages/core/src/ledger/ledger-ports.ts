import type { Clock } from '../base/clock.ts';
import type { Host } from '../base/host.ts';
import type { IdSource } from '../base/id.ts';
import type { LedgerStore } from './port.ts';
import type { LedgerRecording } from './recording.ts';

/** The outside of a ledger: its store, clock and names. */
export interface LedgerPorts {
  readonly store: LedgerStore;
  /** The tenant and app that the store was opened for. */
  readonly scope: { readonly tenant: string; readonly app: string };
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Machine of this process: timers and turns that are no part of a run. */
  readonly host: Host;
  /** Name of this process for the lease. */
  readonly owner: string;
  /** Milliseconds that a lease lasts without an append or renewal. */
  readonly leaseMs: number;
  /** Called when a batch with messages to other ledgers has become durable. */
  readonly onSends?: ((session: string) => void) | undefined;
  /** Secret for the addresses of large values. @default none, for stores that have none */
  readonly addressKey?: Uint8Array | undefined;
  /** The record that is replayed; missing outside of replays. */
  readonly recording?: LedgerRecording | undefined;
}
