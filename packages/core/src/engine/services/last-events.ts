import type { Event } from '../../ledger/event.ts';
import type { LedgerStore } from '../../ledger/port.ts';

/** Reads the last events of a session, the last first. */
export async function lastEvents(
  ledgers: LedgerStore,
  session: string,
  limit: number,
): Promise<readonly Event[]> {
  const found: Event[] = [];
  for await (const page of ledgers.read(session))
    for (const event of page) {
      found.push(event);
      if (found.length > limit) found.shift();
    }
  return found.reverse();
}
