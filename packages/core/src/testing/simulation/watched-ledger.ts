import type { Event } from '../../ledger/event.ts';

/** A rule of the ledger that did not hold. */
export interface BrokenRule {
  /** Name of the rule: `one_writer`, `effect_once`, … */
  readonly rule: string;
  readonly detail: string;
}

/** Everything that the store has for one session, as it was written. */
export interface WatchedLedger {
  readonly tenant: string;
  readonly session: string;
  readonly events: Event[];
  epoch: number;
  /** Owner until it releases the session. */
  owner: string | undefined;
  /** Milliseconds of the simulation at which the owner claimed, renewed or appended last. */
  contactAt: number;
}
