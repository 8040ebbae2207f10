/** Decision that a line of a chat states about the call that waits. */
export interface LineDecision {
  readonly decision: 'approve' | 'reject';
  readonly reason?: string;
}

/** A conversation line by line, in one session, with a run for each line. */
export interface LineChat {
  /** Id of the session. `undefined`: nothing was said in it yet. */
  readonly session: string | undefined;
  /** Runs the agent on a message. Returns the exit code of the run. */
  say(text: string): Promise<number>;
  /**
   * Answers the oldest request that offers this decision, and goes on with the run. `undefined`:
   * there is none.
   */
  decide(decision: LineDecision): Promise<number | undefined>;
  close(): Promise<void>;
}
