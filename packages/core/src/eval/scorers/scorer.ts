import type { ErrorRecord } from '../../base/error.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Usage } from '../../ledger/event.ts';
import type { ToolResult } from '../../ledger/tool-result.ts';
import type { Session } from '../../session/session.ts';
import type { EvalCase, Expectation } from '../dataset/eval-case.ts';
import type { TrialStatus } from '../report.ts';

/** A tool call of a trial. */
export interface TrialToolCall {
  readonly callId: string;
  readonly agent: string;
  readonly name: string;
  /** Those that a person put in the place of the model's, if one did. */
  readonly args: JsonValue;
  /** Missing while the call has none. */
  readonly result?: ToolResult;
}

/** The events and results that follow one message of the user. */
export interface TrialTurn {
  readonly user: string;
  /** All texts of the turn, in order. */
  readonly texts: readonly string[];
  /** The last of them; empty when there is none. */
  readonly answer: string;
  /** The output of the run. */
  readonly output: JsonValue | undefined;
  readonly toolCalls: readonly TrialToolCall[];
  /** The expectations of the case for this turn. */
  readonly expect: Expectation;
}

/** A trial as its ledger tells it: what scorers see. */
export interface TrialRecord {
  readonly case: EvalCase;
  readonly variant: string;
  /** From 1. */
  readonly trial: number;
  readonly status: TrialStatus;
  readonly error?: ErrorRecord;
  readonly turns: readonly TrialTurn[];
  /** The answer of the last turn; empty when there is none. */
  readonly answer: string;
  /** The output of the last run. */
  readonly output: JsonValue | undefined;
  /** Those of all turns. */
  readonly toolCalls: readonly TrialToolCall[];
  /** Session state at the end. */
  readonly state: JsonObject;
  /** Milliseconds over all turns; time in which nobody worked on it not counted. */
  readonly durationMs: number;
  /** US dollars; missing when no price is known. */
  readonly cost?: number;
  readonly usage: Usage;
  /** Answered model calls. */
  readonly steps: number;
  /** The ledger below. */
  readonly session: Session;
}

/** The finding of a scorer. */
export interface Score {
  /** From 0 to 1. */
  readonly score: number;
  /** The finding, so that a person can act on it. */
  readonly explanation: string;
  readonly details?: JsonValue;
}

export interface ScorerContext {
  /** Stops the scorer. */
  readonly signal: AbortSignal;
}

/** Judges a trial. */
export interface Scorer {
  readonly name: string;
  /** The least score that passes. */
  readonly threshold: number;
  /** `undefined`: there is nothing to judge in this trial. */
  readonly score: (
    trial: TrialRecord,
    context: ScorerContext,
  ) => Score | undefined | Promise<Score | undefined>;
}
