import type { Event, RunResult, StreamEvent } from 'adjutant';

/** Output that shows a run. */
export interface RunOutput {
  /** Called with an event of the ledger. The order with transient events of `streamed` is kept. */
  recorded(event: Event): void;
  /** Called with a transient event as it happens, or with a durable one once it is durable. */
  streamed(event: StreamEvent): void;
  ended(result: RunResult): void;
  /**
   * Called after `ended` when the run waits for a person. The lines tell what it waits for, and how
   * to answer.
   */
  waits(lines: readonly string[]): void;
  /** Called when the run was released before its end; `command` continues it, if there is one. */
  stopped(session: string, command: string | undefined): void;
  /** Leaves the terminal in order, whatever happened. */
  close(): void;
}
