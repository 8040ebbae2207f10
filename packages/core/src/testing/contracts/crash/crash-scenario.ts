import type { JsonValue } from '../../../base/json.ts';
import type { RuntimeOptions } from '../../../engine/app/runtime-options.ts';
import type { SessionOptions } from '../../../engine/frame/run-options.ts';
import type { RequestAnswer } from '../../../engine/requests/check.ts';
import type { RunResult } from '../../../engine/run/run.ts';
import type { Runtime } from '../../../runtime.ts';
import type { PendingRequest } from '../../../session/pending-request.ts';
import type { Runnable } from '../../../session/runnable.ts';

/**
 * Answers from outside to each question of a run: by the name of the tool that asks, or by a
 * function of the question. A text is a message of the user that the question is to find.
 */
export type ScenarioAnswers =
  | Readonly<Record<string, RequestAnswer | string>>
  | ((pending: PendingRequest) => RequestAnswer | string);

/** The parts that a stopped run must have in common with one that was not stopped. */
export type ScenarioComparison = 'projection' | 'outcome' | 'end';

/**
 * The definitions of one process. They are made again for each process, as a real one would have
 * them: processes may share nothing but the world outside.
 */
export interface CrashScenario {
  readonly runnable: Runnable;
  /** The message that the run begins with. @default 'Go' */
  readonly input?: string;
  /** Further input that the runnable is started with. */
  readonly data?: JsonValue;
  /** Name of the model of the run, as in `app.run`. @default the model of the agent */
  readonly model?: string;
  /**
   * Options of the app: `runnables`, `tools`, `hooks`, `stateSchema`, … @default an app named
   * "crash-points"
   */
  readonly app?: Omit<Partial<RuntimeOptions>, 'store' | 'tenant' | 'recover' | 'ports'>;
  /** Options of the session: `userId`, `scopes`, `permissions`. */
  readonly session?: Omit<SessionOptions, 'id' | 'existing' | 'stateSchema' | 'observe'>;
  readonly answers?: ScenarioAnswers;
  /**
   * Returns the message of the user to a run that waits for one, by the number of earlier messages.
   */
  readonly message?: (count: number) => string;
  /**
   * Repairs a run that has failed, which is then continued: it tells outcomes that are unknown, and
   * reopens the run. A process that continues after a stop in the middle of it calls it again.
   * @default a failed run is the end
   */
  readonly repair?: (app: Runtime, failed: RunResult) => Promise<void>;
  /**
   * A run in another lane of the session, begun at the same time. It is answered and continued like
   * the first one; its runnable must be known to the app.
   */
  readonly beside?: {
    readonly runnable: Runnable;
    readonly lane: string;
    /** @default 'Go' */
    readonly input?: string;
  };
  /** The run is cancelled from outside when this resolves. */
  readonly cancelWhen?: Promise<void>;
  /** The answer under way is interrupted from outside when this resolves; the run then goes on. */
  readonly interruptWhen?: Promise<void>;
  /**
   * Milliseconds that pass, by the process's clock, between the last event of a process and the
   * next process. @default 3_600_000
   */
  readonly pauseMs?: number;
  /**
   * The compared parts. `projection`: result, state, and all of the ledger but times, ids, resume
   * marks, interrupted model calls and attempts. `outcome`: result and state, where the order of
   * concurrent parts is open. `end`: the result alone.
   * @default 'projection'
   */
  readonly compares?: ScenarioComparison;
}

/** Makes the definitions of one process. */
export type MakeScenario = () => CrashScenario;

/** One execution of a tool or of an effect of a body. */
export interface Execution {
  readonly callId: string;
  readonly attempt: number;
  /** The idempotency key. */
  readonly key: string;
  /** The reaction to a stop after which its effect is unknown. */
  readonly recovery: 'report' | 'rerun' | 'ask' | 'probe';
}
