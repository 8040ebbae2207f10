import type { CancelScope } from '../../base/cancel-scope.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Activity } from './activity.ts';

/** Invocation that this process is carrying out. */
export interface InFlightInvocation {
  readonly ended: Promise<InvocationRecord | undefined>;
  /** Scope of the slot, above that of the invocation. */
  readonly scope: CancelScope;
  readonly activity: Activity;
}

/** Work of this process on a ledger: one run at most, and dispatched children of earlier runs. */
export interface InFlightWork {
  /** Number of runs that have not released the ledger. */
  runs: number;
  /** Paths of the detached children: nothing waits for them. */
  readonly detached: Set<string>;
  /**
   * Called when a run has released detached children because they wait: a run that still works on
   * the ledger takes them over, for it takes in their answers.
   */
  readonly onDetachedReleased: Set<() => void>;
  /**
   * Invocations under way, by the path of the slot. A second caller of a slot joins the first:
   * nothing is carried out twice at once.
   */
  readonly underWay: Map<string, InFlightInvocation>;
}

const works = new WeakMap<Ledger, InFlightWork>();

export function inFlightOn(ledger: Ledger): InFlightWork {
  let found = works.get(ledger);
  if (found === undefined) {
    found = {
      runs: 0,
      detached: new Set(),
      onDetachedReleased: new Set(),
      underWay: new Map(),
    };
    works.set(ledger, found);
  }
  return found;
}
