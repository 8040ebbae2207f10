import { useEffect, useState, useSyncExternalStore } from 'react';
import { FollowedLedger } from '../../ledger/followed-ledger.ts';

/** Follows the ledger of a session while the page is open: its caller is drawn with each change. */
export function useLedger(session: string): FollowedLedger {
  const [ledger, setLedger] = useState(() => new FollowedLedger(session));
  useEffect(() => {
    const opened = new FollowedLedger(session);
    setLedger(opened);
    void opened.open();
    return () => opened.close();
  }, [session]);
  useSyncExternalStore(ledger.subscribe, ledger.version);
  return ledger;
}
