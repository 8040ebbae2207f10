import { useEffect, useState, useSyncExternalStore } from 'react';
import { FollowedLedger } from '../../ledger/followed-ledger.ts';

/** Follows the ledger of a session while the page is open. */
export function useLedger(session: string): {
  readonly ledger: FollowedLedger;
  /** Changes with everything that is drawn of the ledger. */
  readonly version: number;
} {
  const [ledger, setLedger] = useState(() => new FollowedLedger(session));
  useEffect(() => {
    const opened = new FollowedLedger(session);
    setLedger(opened);
    void opened.open();
    return () => opened.close();
  }, [session]);
  const version = useSyncExternalStore(ledger.subscribe, ledger.version);
  return { ledger, version };
}
