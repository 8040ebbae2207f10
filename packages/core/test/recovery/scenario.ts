import type { JsonValue, LifecycleOptions, PendingCall, Runnable, StateSchema } from 'adjutant';

/** One execution of a tool, as the tool saw it. */
export interface Execution {
  readonly callId: string;
  readonly key: string;
}

/** What somebody outside says to a request. */
export interface ScenarioAnswer {
  readonly decision: 'answer' | 'approve' | 'edit' | 'reject' | 'succeeded' | 'retry' | 'report';
  readonly input?: JsonValue;
  readonly reason?: string;
}

/** Definitions made anew for each process that works on the run. */
export interface ScenarioRun {
  readonly runnable: Runnable;
  readonly runnables?: readonly Runnable[];
  /** Filled by the scenario's tools. */
  readonly executions: readonly Execution[];
  readonly stateSchema?: StateSchema;
  readonly lifecycle?: LifecycleOptions;
  /** What the session's own user scope holds in the end. */
  readonly shared?: Readonly<Record<string, JsonValue>>;
  readonly answer?: (pending: PendingCall) => ScenarioAnswer;
  /** What is said to a loop that waits, by how many messages there were. */
  readonly message?: (count: number) => string;
  /** Milliseconds from the last event of a process to the next process. @default 3_600_000 */
  readonly pause?: number;
  /** The run is cancelled from outside then. */
  readonly cancelWhen?: Promise<void>;
  /**
   * What a run that was stopped has in common with one that was not: all that the projection says; result and state; or how it ended, where
   * the rest depends on how far things beside each other had come.
   * @default 'projection'
   */
  readonly compares?: 'projection' | 'outcome' | 'end';
  /** Its tools may never be run twice. */
  readonly isReporting?: boolean;
}

export type MakeScenario = () => ScenarioRun;
