import type { RunResult, Runtime, Session, Store } from 'adjutant';

export interface CliOptions {
  /** App that has the runnable and the sessions. @default one of its own, with `store` */
  readonly app?: Runtime;
  /** Store of the sessions, in the place of `app`. @default in memory, gone with the process */
  readonly store?: Store;
  /** Id of the session to go on with, or to begin. @default a new session */
  readonly session?: string;
  /** True to talk line by line in a terminal, too. @default false */
  readonly plain?: boolean;
  /** True for signs of ASCII. @default in terminals without UTF-8 */
  readonly ascii?: boolean;
}

/** The end of a conversation. */
export interface CliOutcome {
  /** The session that was open last. */
  readonly session: Session;
  /** Result of the last run that was worked on here. `undefined`: none came to its end. */
  readonly result: RunResult | undefined;
  /**
   * Code for `process.exitCode`: 0 done, or left; 1 failed or cancelled; 3 waits for somebody; 129,
   * 130, 143 a run was stopped.
   */
  readonly exitCode: number;
}
