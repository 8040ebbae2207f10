/**
 * A framework with one place where it keeps its sessions. Each session goes by an id that the
 * benchmark gives.
 */
export interface DurableContender {
  readonly name: 'Adjutant' | 'LangGraph.js';
  /** Runs a conversation of so many rounds with one tool call in each. */
  rounds(session: string, rounds: number): Promise<void>;
  /** Stores a conversation of so many rounds, without having run it here. */
  storeRounds(session: string, rounds: number): Promise<void>;
  /**
   * Opens a session of which this process has nothing in memory, gives it one more message, and
   * lets the model answer it.
   */
  oneMore(session: string): Promise<void>;
  /** Runs until a call of a tool waits for somebody's approval; nothing of the run is held here. */
  wait(session: string): Promise<void>;
  /**
   * Prepares the approval; the function gives it and goes on to the end, with nothing of the run in
   * memory.
   */
  approval(session: string): Promise<() => Promise<void>>;
  /** Bytes that all of it takes. */
  bytes(): Promise<number>;
}
