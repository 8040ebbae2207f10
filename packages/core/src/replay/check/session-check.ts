/**
 * Verdict on an open run under the code of today.
 * - `goes_on`: it continues the run, or waits as before.
 * - `refused`: continuing would end in an error.
 * - `unknown`: it could not be tried.
 */
export type SessionVerdict = 'goes_on' | 'refused' | 'unknown';

/** Result for one session. */
export interface SessionCheck {
  readonly session: string;
  readonly tenant: string;
  /** Name of the runnable of its open run. */
  readonly runnable: string | undefined;
  /** Path of the open run; `undefined` when its ledger cannot be read. */
  readonly runId: string | undefined;
  readonly verdict: SessionVerdict;
  /** Code of the error, such as `ledger_mismatch`, `unknown_runnable` or `orphaned_child`. */
  readonly code?: string;
  /** Sentence that says why it is refused or not known. */
  readonly reason?: string;
}

export interface CheckReport {
  /** The sessions with an open run, newest first. */
  readonly sessions: readonly SessionCheck[];
  /**
   * Tools of agents of the app that say nothing of recovery, as `agent/tool`. A call that a crash
   * cuts off is told to the model as unknown.
   */
  readonly undeclaredTools: readonly string[];
  /** Steps of the app that do not say `effects: false`. Their bodies are not run by a check. */
  readonly undeclaredSteps: readonly string[];
}

export interface CheckOptions {
  /**
   * True to run the bodies of steps that do not say `effects: false` too. What they do outside by
   * themselves is done again.
   * @default false
   */
  readonly runSteps?: boolean;
  /** The only sessions to check, by id. @default all with an open run */
  readonly sessions?: readonly string[];
  /**
   * Milliseconds of real time that code may take before a run counts as not known.
   * @default 2_000
   */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
}
