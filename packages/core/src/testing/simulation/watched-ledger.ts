import type { Event } from '../../ledger/event.ts';

/** Names of the rules that a simulation checks; the guide says what each of them means. */
export const simulationRules = [
  'same_seed',
  'same_end',
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
  epoch: number;
  /** Owner until it releases the session. */
  owner: string | undefined;
  /** Milliseconds of the simulation at which the owner claimed, renewed or appended last. */
  contactAt: number;
}
