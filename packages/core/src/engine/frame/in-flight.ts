import type { CancelScope } from '../../base/cancel-scope.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ReleaseOptions } from '../../ledger/port.ts';
import type { Activity } from './activity.ts';

/** Invocation that this process is carrying out. */
export interface InFlightInvocation {
  readonly ended: Promise<InvocationRecord | undefined>;
  /** Scope of the slot, above that of the invocation. */
  readonly scope: CancelScope;
  readonly activity: Activity;
}

/** State of a lane when its last run here ended or began to wait. */
export interface LaneRest {
  /** `seq` of the last event that may concern the lane. */
  readonly seq: number;
  /** Time in epoch milliseconds. What was due then, the run has dealt with. */
  readonly at: number;
}

/**
 * Work of this process on a ledger: one run at most in each lane, and dispatched children of
 * earlier runs.
 */
export interface InFlightWork {
  /** Number of runs that have not released the ledger. */
  runs: number;
  /** Release of the ledger under way: a run that begins waits for it. */
  releasing: Promise<unknown> | undefined;
  /** Positions of the inbox items that a run has taken in: another one does not take them again. */
  readonly taken: Set<number>;
  /** Lanes that runs of other lanes have left inbox items for. */
  readonly addressed: Set<string>;
  /** Ends of the last runs of lanes here, by lane. */
  readonly rested: Map<string, LaneRest>;
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
      releasing: undefined,
      taken: new Set(),
      addressed: new Set(),
      rested: new Map(),
      detached: new Set(),
      onDetachedReleased: new Set(),
      underWay: new Map(),
    };
    works.set(ledger, found);
  }
  return found;
}

/** Counts a run that begins on a ledger, after a release that is under way. */
export async function enterLedger(ledger: Ledger): Promise<InFlightWork> {
  const work = inFlightOn(ledger);
  while (work.releasing !== undefined) await work.releasing.catch(() => undefined);
  work.runs++;
  return work;
}

/** Releases a ledger. Runs that begin meanwhile wait, and claim it again. */
export async function releaseLedger(
  ledger: Ledger,
  options?: ReleaseOptions,
): Promise<{ readonly released: boolean }> {
  const work = inFlightOn(ledger);
  const releasing = ledger.release(options);
  work.releasing = releasing;
  try {
    return await releasing;
  } finally {
    if (work.releasing === releasing) work.releasing = undefined;
  }
}
