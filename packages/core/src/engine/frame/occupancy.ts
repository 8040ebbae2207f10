import type { CancelScope } from '../../base/cancel-scope.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Activity } from './activity.ts';

/** An invocation that this process is carrying out. */
export interface UnderWay {
  readonly ended: Promise<InvocationRecord | undefined>;
  /** The scope above it. */
  readonly scope: CancelScope;
  readonly activity: Activity;
}

/**
 * What this process is doing on a ledger: one run at most, and what earlier runs dispatched and is
 * still under way.
 */
export interface Occupancy {
  /** Runs that have not given the ledger back. */
  runs: number;
  /** Paths of the children that nobody waits for. */
  readonly detached: Set<string>;
  /**
   * By the path of the slot: whoever asks for the same slot joins it, for nothing is carried out
   * twice at once.
   */
  readonly underWay: Map<string, UnderWay>;
}

const occupancies = new WeakMap<Ledger, Occupancy>();

export function occupancyOf(ledger: Ledger): Occupancy {
  let found = occupancies.get(ledger);
  if (found === undefined) {
    found = { runs: 0, detached: new Set(), underWay: new Map() };
    occupancies.set(ledger, found);
  }
  return found;
}
