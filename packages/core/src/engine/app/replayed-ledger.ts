import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { RecordedLedger } from '../../ledger/recorded-ledger.ts';
import type { LedgerRecording } from '../../ledger/recording.ts';
import type { RuntimeOptions } from './runtime-options.ts';

/**
 * Start of a replay: the first events of a record with all of their large values. `recording` has
 * the rest of them, with which the replay is compared.
 */
export interface ReplayedLedger extends RecordedLedger {
  readonly clock: Clock;
  readonly recording: LedgerRecording;
}

const constantRandom: Random = { next: () => 0.5 };
/**
 * Lease of a replayed session in milliseconds: no other process works on it, however far its clock
 * jumps.
 */
const leaseMs = 1e13;

/** Returns the options of a runtime of the same definitions whose time is that of a record. */
export function replayOptions(
  { onRequest: _, ...options }: RuntimeOptions,
  { app, tenant, clock }: ReplayedLedger,
): Omit<RuntimeOptions, 'store' | 'runnables'> {
  return {
    ...options,
    app,
    tenant,
    recover: 'manual',
    lease: { ttlMs: leaseMs },
    ports: { clock, random: constantRandom },
  };
}
