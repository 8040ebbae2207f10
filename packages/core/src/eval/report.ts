import type { ErrorRecord } from '../base/error.ts';
import type { JsonValue } from '../base/json.ts';
import type { Usage } from '../ledger/event.ts';
import type { ToolResultStatus } from '../ledger/tool-result.ts';

/** An estimate with its confidence interval. */
export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The report of an eval, as plain JSON. `finishedAt` is missing when the eval was stopped before
 * its end. It then has the trials until the stop, and the same eval with the same `runId` continues
 * from there.
 */
export interface EvalReport {
  readonly format: 'adjutant-eval-report';
  readonly v: 1;
  readonly name: string;
  readonly runId: string;
  /** Epoch milliseconds; those of the first start, also after the eval was continued. */
  readonly startedAt: number;
  readonly finishedAt?: number;
  /** Trials that the eval is made of, over all variants. */
  readonly total: number;
  /** Trials that have ended, however they ended. */
  readonly done: number;
  readonly variants: readonly VariantReport[];
  /** The second and each later variant against the first; empty with one variant. */
  readonly comparisons: readonly Comparison[];
  /** The least pass rate of every variant, from 0 to 1. */
  readonly threshold?: number;
  /**
   * True when the eval has finished, at least one trial ran, and the pass rate of every variant
   * reaches the threshold (1 when none is given).
   */
  readonly passed: boolean;
  /** Confidence of all intervals. */
  readonly confidence: number;
  /** Method of the intervals, in one sentence for people. */
  readonly methods: string;
}

export interface VariantReport {
  readonly name: string;
  /** Version of the variant, where it has one. */
  readonly version?: string;
  /** Name of the app that the trials share; missing when each has its own. */
  readonly app?: string;
  /** Name of the runnable that the trials share. */
  readonly agent?: string;
  readonly summary: VariantSummary;
  readonly cases: readonly CaseReport[];
}

export interface VariantSummary {
  readonly cases: number;
  readonly trials: number;
  /** Trials that passed. */
  readonly passed: number;
  /** Passed trials of all; 0 without trials. */
  readonly passRate: Interval;
  /** Chance that at least one of `k` trials of a case passes, averaged over cases. */
  readonly passAtK: readonly PassAtK[];
  /** Chance that all of `k` trials of a case pass (pass^k), averaged over cases. */
  readonly passAllK: readonly PassAtK[];
  /** By name of the scorer: the mean over the cases that it scored. */
  readonly scores: Readonly<Record<string, ScoreSummary>>;
  readonly durationMs: { readonly mean: number; readonly p50: number; readonly p95: number };
  /** US dollars; missing when no price is known. */
  readonly cost?: { readonly total: number; readonly mean: number };
  readonly usage: Usage;
  readonly steps: { readonly mean: number };
}

export interface PassAtK {
  readonly k: number;
  readonly value: number;
}

export interface ScoreSummary {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  /** Trials that it scored, and how many of them passed. */
  readonly trials: number;
  readonly passed: number;
}

export interface CaseReport {
  readonly id: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /**
   * Expectations of the case and of its turns, as a dataset in JSON has them. Missing when there
   * are none.
   */
  readonly expect?: JsonValue;
  readonly trials: readonly TrialReport[];
  /** Passed trials of all, from 0 to 1. */
  readonly passRate: number;
}

/**
 * `completed`: the run ended with an answer. `error`: it failed, or the trial itself did.
 * `timed_out`: it took longer than a trial may. `cancelled`: somebody else ended it. `waiting`: it
 * asked for something that nobody was there to answer.
 */
export type TrialStatus = 'completed' | 'error' | 'timed_out' | 'cancelled' | 'waiting';

export interface TrialReport {
  /** From 1. */
  readonly trial: number;
  /** The session with the trial's ledger, in the store of the variant's app. */
  readonly session: string;
  readonly status: TrialStatus;
  /** It completed, and every scorer passed. */
  readonly passed: boolean;
  readonly scores: readonly ScoreReport[];
  /** Milliseconds over all turns; waiting between turns not counted. */
  readonly durationMs: number;
  /** US dollars; missing when no price is known. */
  readonly cost?: number;
  readonly usage: Usage;
  /** Answered model calls. */
  readonly steps: number;
  readonly error?: ErrorRecord;
  readonly turns: readonly TurnReport[];
}

/** The events and results that follow one message of the user. */
export interface TurnReport {
  readonly user: string;
  /** The last text of the turn; missing when there is none. */
  readonly assistant?: string;
  readonly toolCalls: readonly ToolCallReport[];
}

export interface ToolCallReport {
  readonly name: string;
  readonly args: JsonValue;
  /** Missing while the call has no result. */
  readonly status?: ToolResultStatus;
}

export interface ScoreReport {
  readonly scorer: string;
  /** From 0 to 1. */
  readonly score: number;
  readonly passed: boolean;
  /** The least score that passes. */
  readonly threshold: number;
  /** The finding, so that a person can act on it. */
  readonly explanation: string;
  readonly details?: JsonValue;
  /** The scorer itself failed; the score is then 0. */
  readonly error?: ErrorRecord;
}

/** Two variants, paired by case: only cases that both have trials of. */
export interface Comparison {
  readonly baseline: string;
  readonly candidate: string;
  readonly cases: number;
  /** Candidate minus baseline, as all differences here. */
  readonly passRate: Difference;
  readonly scores: Readonly<Record<string, Difference>>;
  /**
   * Milliseconds, model calls, tokens and US dollars per trial. `cost` is missing when no price is
   * known.
   */
  readonly measures: {
    readonly durationMs: Difference;
    readonly steps: Difference;
    readonly tokens: Difference;
    readonly cost?: Difference;
  };
  /** Ids of cases whose pass rate went up. */
  readonly improved: readonly string[];
  /** Ids of cases whose pass rate went down. */
  readonly regressed: readonly string[];
}

export interface Difference extends Interval {
  readonly baseline: number;
  readonly candidate: number;
  /**
   * Chance of a split of better and worse cases at least as uneven as this one if there were no
   * difference (exact two-sided sign test).
   */
  readonly pValue: number;
  /** The interval does not contain 0. */
  readonly significant: boolean;
}

/** The progress messages of a running eval. */
export type EvalProgress = EvalProgressStart | EvalTrialStarted | EvalTrialEnded;

export interface EvalProgressStart {
  readonly type: 'start';
  readonly name: string;
  readonly runId: string;
  readonly total: number;
  readonly variants: readonly string[];
  readonly cases: number;
  readonly trials: number;
}

export interface EvalTrialStarted {
  readonly type: 'trial_start';
  readonly variant: string;
  readonly case: string;
  readonly trial: number;
  readonly session: string;
}

export interface EvalTrialEnded {
  readonly type: 'trial_end';
  readonly variant: string;
  readonly case: string;
  readonly trial: TrialReport;
  /** Nothing was run for it: it was read from its ledger. */
  readonly recorded: boolean;
  /** Trials that have ended so far, with this one, and how many of them passed. */
  readonly done: number;
  readonly passed: number;
  readonly total: number;
}
