import type { Event, RunResult, StreamEvent } from 'adjutant';

/** Shows a run. */
export interface RunOutput {
  /**
   * An event of the ledger at the moment it comes about, in order with `streamed` transient events,
   * before it is durable.
   */
  drafted(event: Event): void;
  /** A transient event as it happens, or a durable one once it is durable. */
  streamed(event: StreamEvent): void;
  ended(result: RunResult): void;
  /**
   * The run waits for somebody; the lines say for what, and how to answer. Called after `ended`.
   */
  waits(lines: readonly string[]): void;
  /** The run was given back before its end; `command` continues it. */
  stopped(session: string, command: string): void;
  /** Leaves the terminal in order, whatever happened. */
  close(): void;
}
