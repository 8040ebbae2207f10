import type { ExecutionMessage } from '../../effects/execution-channel.ts';
import type { Event } from '../../ledger/event.ts';
import { rootOf } from '../../ledger/path.ts';
import type { Fault } from './faults.ts';

/** Names of the rules that a simulation checks; the guide says what each of them means. */
export const simulationRules = [
  'same_seed',
  'same_end',
  'failure_explained',
  'ends_compared',
  'at_end',
  'one_writer',
  'no_gaps',
  'append_only',
  'append_known',
  'item_with_event',
  'ledger_kept',
  'lease_kept',
  'owner_acts',
  'attempt_before_effect',
  'effect_once',
  'attempts_counted',
  'same_key',
  'one_start',
  'one_end',
  'one_result',
  'drift_before_work',
  'message_once',
  'message_not_lost',
  'one_answer',
  'one_confirmed',
  'answer_in_time',
  'answer_not_lost',
  'answer_heeded',
  'approval_heeded',
  'outcome_heeded',
  'control_heeded',
  'expiry_by_store',
  'sleep_by_store',
  'request_owned',
  'settled_with_event',
  'run_accepted',
  'run_not_lost',
  'run_once',
  'inbox_drained',
  'everything_ends',
  'comes_to_rest',
  'app_starts',
  'answer_taken',
  'errors_handled',
] as const;

export type SimulationRule = (typeof simulationRules)[number];

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
