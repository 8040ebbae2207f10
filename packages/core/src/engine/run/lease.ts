import type { Clock } from '../../base/clock.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** Number of renewals in the time of one lease, and of retries after a renewal that failed. */
const renewalsPerLease = 3;
const triesPerLease = 30;

/**
 * Renews the lease of a ledger three times in its life. It ends when the returned function is
 * called or the ledger is lost. A renewal that fails is tried again until the lease is over. Only
 * then, or when another owner has the ledger, the ledger is lost.
 */
export function keepLease(ledger: Ledger, clock: Clock): () => void {
  const { leaseMs } = ledger.ports;
  let cancel: () => void = () => undefined;
  let ended = false;
  const arm = (ms: number): void => {
    if (!ended) cancel = clock.setTimer(ms, renew);
  };
  const renew = (): void => {
    if (ended || ledger.lease.claim === undefined || ledger.failure !== undefined) return;
    const wait = leaseMs / triesPerLease;
    ledger.lease.renew().then(
      () => arm(leaseMs / renewalsPerLease),
      // Appends prolong the lease too: as long as they land, no renewal is missed.
      (error: unknown) =>
        ended || ledger.failure !== undefined || ledger.lease.isLive()
          ? arm(wait)
          : ledger.fail(error),
    );
  };
  arm(leaseMs / renewalsPerLease);
  return () => {
    ended = true;
    cancel();
  };
}
