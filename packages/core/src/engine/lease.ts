import type { Clock } from '../base/clock.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** Renews the lease of a ledger three times in its life, until the returned function is called or the ledger is lost. */
export function keepLease(ledger: Ledger, clock: Clock): () => void {
  let cancel: () => void = () => undefined;
  let ended = false;
  const arm = (): void => {
    cancel = clock.setTimer(ledger.ports.leaseMs / 3, () => {
      const { claim } = ledger;
      if (ended || claim === undefined || ledger.failure !== undefined) return;
      ledger.ports.store.renew(claim).then(arm, (error: unknown) => ledger.fail(error));
    });
  };
  arm();
  return () => {
    ended = true;
    cancel();
  };
}
