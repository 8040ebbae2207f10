import type { ExecutionMessage } from '../../effects/execution-channel.ts';
import type { Event } from '../../ledger/event.ts';
import { rootOf } from '../../ledger/path.ts';
import type { Fault } from './faults.ts';
import type { SimulationRule } from './report/simulation-rules.ts';

/** A rule that did not hold. */
export interface BrokenRule {
  readonly rule: SimulationRule;
  readonly detail: string;
  /** What code of the app has thrown, if it broke the rule by that. */
  readonly cause?: unknown;
}

/** Called for a rule that did not hold. */
export type ReportBroken = (rule: SimulationRule, detail: string) => void;

/** Everything that the store has for one session, as it was written. */
export interface WatchedLedger {
  readonly tenant: string;
  readonly session: string;
  readonly events: Event[];
  /** Milliseconds of the simulation at which each of them landed. */
  readonly landedAt: number[];
  /** Epochs of the owners that wrote them. */
  readonly epochs: number[];
  /** Faults that met the run of the session. */
  readonly faults: Fault[];
  /** Recovery of the calls and effects that have begun, by their ids. */
  readonly recoveries: Map<string, ExecutionMessage['recovery']>;
  /** True when another version of the code came before the last event. */
  isEdited: boolean;
  epoch: number;
  /** Owner until it releases the session. */
  owner: string | undefined;
  /** Milliseconds of the simulation at which the owner claimed, renewed or appended last. */
  contactAt: number;
}

/** A session of which nothing is known yet. */
export function newLedger(tenant: string, session: string): WatchedLedger {
  return {
    tenant,
    session,
    events: [],
    landedAt: [],
    epochs: [],
    faults: [],
    recoveries: new Map(),
    isEdited: false,
    epoch: 0,
    owner: undefined,
    contactAt: 0,
  };
}

/**
 * Notes a fault in the sessions that it met: that of its subject, or all of its process. What may
 * be run again begins before the store has any event of its run: its session is one of its process.
 */
export function noteFault(ledgers: Iterable<WatchedLedger>, fault: Fault): void {
  const { place, subject } = fault;
  const machine = place.slice(0, Math.max(0, place.indexOf('/')));
  const all = [...ledgers];
  const ofSubject = all.filter(
    ({ events }) =>
      subject !== undefined && events.some(({ invocationId }) => invocationId === rootOf(subject)),
  );
  const ofProcess = all.filter(({ owner }) => owner?.startsWith(`simulated/${machine}.`) === true);
  for (const { faults } of ofSubject.length > 0 ? ofSubject : ofProcess) faults.push(fault);
}
