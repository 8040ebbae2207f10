import type { Ledger } from '../ledger/ledger.ts';

/** What this process is doing on a ledger: one run at most, and what earlier runs dispatched and is still under way. */
export interface Occupancy {
  /** Runs that have not given the ledger back. */
  runs: number;
  /** Paths of the children that nobody waits for. */
  readonly detached: Set<string>;
}

const occupancies = new WeakMap<Ledger, Occupancy>();

export function occupancyOf(ledger: Ledger): Occupancy {
  let found = occupancies.get(ledger);
  if (found === undefined) {
    found = { runs: 0, detached: new Set() };
    occupancies.set(ledger, found);
  }
  return found;
}
