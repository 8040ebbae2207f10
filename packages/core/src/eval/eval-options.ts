import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/id.ts';
import type { RunLimits } from '../engine/frame/run-options.ts';
import type { Store } from '../ledger/port.ts';
import type { ModelInput } from '../models/model.ts';
import type { Runtime } from '../runtime.ts';
import type { Runnable } from '../session/runnable.ts';
import type { ScopeIds } from '../session/shared-state.ts';
import type { Dataset, EvalCase, EvalCaseInput } from './dataset/eval-case.ts';
import type { EvalProgress } from './report.ts';
import type { Scorer } from './scorers/scorer.ts';

/** Which trial of an eval something is about. */
export interface TrialPlace {
  readonly runId: string;
  readonly variant: string;
  readonly case: EvalCase;
  /** From 1. */
  readonly trial: number;
  /** The trial's session. */
  readonly session: string;
}

/** The subject of a trial. */
export interface TrialSubject {
  readonly app: Runtime;
  readonly runnable: Runnable;
  /** Called when the trial has been scored. */
  readonly close?: () => void | Promise<void>;
}

interface VariantBase {
  readonly name: string;
  /**
   * Say what a hash of the definition cannot see, such as the revision of code that tools call:
   * with another version nothing that was recorded before is used again.
   */
  readonly version?: string;
}

/** A variant whose trials share one app. */
export interface SharedAppVariant extends VariantBase {
  /** An app, or a function that makes it on first use; what it made is closed at the end. */
  readonly app: Runtime | (() => Runtime | Promise<Runtime>);
  readonly runnable: Runnable;
}

/** A variant each of whose trials has an app and a runnable of its own. */
export interface OwnAppVariant extends VariantBase {
  readonly open: (trial: TrialPlace) => TrialSubject | Promise<TrialSubject>;
}

/** A variant that is measured, or compared with the others. */
export type EvalVariant = SharedAppVariant | OwnAppVariant;

export interface EvalOptions {
  readonly name: string;
  /** Cases, a dataset, or the file of one: see `readDataset`. */
  readonly dataset: Dataset | readonly EvalCaseInput[] | string | URL;
  /** The first is what the others are compared with. */
  readonly variants: readonly EvalVariant[];
  /**
   * @default [toolTrajectory(), responseMatch(), stateMatch()], each for cases that expect
   * something of the kind
   */
  readonly scorers?: readonly Scorer[];
  /** Number of trials of each case with each variant. @default 1 */
  readonly trials?: number;
  /** Trials at the same time. @default 4 */
  readonly concurrency?: number;
  /** The least pass rate of every variant, from 0 to 1. @default 1 */
  readonly threshold?: number;
  /** Milliseconds of active time that a trial may take. @default 300_000 */
  readonly timeoutMs?: number;
  /** The limits of each turn of a trial. */
  readonly limits?: Omit<RunLimits, 'timeout'>;
  /** Only cases for which it gives true. @default all */
  readonly only?: (evalCase: EvalCase) => boolean;
  /** The model that plays the user in scenarios. */
  readonly userModel?: ModelInput | string;
  /**
   * Ids of the shared scopes of a trial's session. @default `user` with the case's `userId`, if it
   * has one
   */
  readonly scopes?: (trial: TrialPlace) => ScopeIds;
  /** Which `k` pass@k and pass^k are given for. @default all from 1 to `trials`, at most 10 */
  readonly passK?: readonly number[];
  /** Confidence of the intervals. @default 0.95 */
  readonly confidence?: number;
  /**
   * Name of this run of the eval. Given again, the eval goes on where it stopped: what has been
   * recorded is read and not run again. @default a new one
   */
  readonly runId?: string;
  /**
   * Goes on with the last run of this eval that has not finished, if there is one. @default false
   */
  readonly continue?: boolean;
  /**
   * Where the eval keeps the list of its runs. @default the store of the first variant's app; one
   * in memory when each trial has its own
   */
  readonly store?: Store;
  /** Told what happens. What it throws ends the eval. */
  readonly onProgress?: (progress: EvalProgress) => void;
  /** Stops the eval: trials under way are released, and the report has what was done. */
  readonly signal?: AbortSignal;
  /** For tests: where time and ids come from. */
  readonly ports?: { readonly clock?: Clock; readonly ids?: IdSource };
}
