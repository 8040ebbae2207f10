import type { JsonValue } from '../../../base/json.ts';
import type { RuntimeOptions } from '../../../engine/app/runtime-options.ts';
import type { SessionOptions } from '../../../engine/frame/run-options.ts';
import type { RequestAnswer } from '../../../engine/requests/check.ts';
import type { PendingCall } from '../../../session/pending-call.ts';
import type { Runnable } from '../../../session/runnable.ts';

/**
 * What somebody outside says to each question of a run: by the name of the tool that asks, or by a
 * function of the question.
 */
export type ScenarioAnswers =
  | Readonly<Record<string, RequestAnswer>>
  | ((pending: PendingCall) => RequestAnswer);

/** What a run that was stopped has to have in common with one that was not. */
export type ScenarioComparison = 'projection' | 'outcome' | 'end';

/**
 * All that one process has. It is made anew for each, as a new process has it: nothing may be
 * shared but the world outside.
 */
export interface CrashScenario {
  readonly runnable: Runnable;
  /** The message that the run begins with. @default 'Go' */
  readonly input?: string;
  /** What the runnable is started with besides. */
  readonly data?: JsonValue;
  /**
   * Options of the app: `runnables`, `tools`, `hooks`, `stateSchema`, … @default an app named
   * "crash-points"
   */
  readonly app?: Omit<Partial<RuntimeOptions>, 'store' | 'tenant' | 'recover' | 'ports'>;
  /** Options of the session: `userId`, `scopes`, `permissions`. */
  readonly session?: Omit<SessionOptions, 'id' | 'existing' | 'stateSchema' | 'observe'>;
  readonly answers?: ScenarioAnswers;
  /** What the user says to a run that waits for a message, by how many messages there were. */
  readonly message?: (count: number) => string;
  /** The run is cancelled from outside when this resolves. */
  readonly cancelWhen?: Promise<void>;
  /**
   * Milliseconds that pass, by the process's clock, between the last event of a process and the
   * next process. @default 3_600_000
   */
  readonly pause?: number;
  /**
   * What is compared. `projection`: result, state, and all that the ledger says but times, ids,
   * resume marks, interrupted model calls and attempts. `outcome`: result and state, where the
   * order of what runs beside each other is open. `end`: the result alone.
   * @default 'projection'
   */
  readonly compares?: ScenarioComparison;
}

/** Makes what one process has. */
export type MakeScenario = () => CrashScenario;

/** One time that a tool or an effect of a body was entered. */
export interface Execution {
  readonly callId: string;
  readonly attempt: number;
  /** The idempotency key. */
  readonly key: string;
  /** What is done when nobody knows whether it took effect. */
  readonly recovery: 'report' | 'rerun' | 'ask' | 'probe';
}
