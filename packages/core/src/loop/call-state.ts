import type { EventOf } from '../ledger/event.ts';

/** One execution of a tool. */
export interface AttemptState {
  readonly attempt: number;
  readonly key: string;
  readonly seq: number;
  /** Epoch milliseconds at which it is given up. */
  readonly deadline: number | undefined;
  /** That of the owner that made it. */
  readonly epoch: number;
  /** The tool that stood in for the one that was asked for. */
  readonly tool?: string | undefined;
  /** Missing while it runs, or when the process died. */
  result: EventOf<'tool_result'> | undefined;
}

/** A question that was answered. */
export interface AnsweredRequest {
  readonly request: EventOf<'tool_yield'>;
  readonly answer: EventOf<'tool_input'>;
}

/** One tool call of the open round. */
export interface CallState {
  /**
   * Names the call among what is in flight. Made once: it is looked up whenever it is asked what is
   * to be done.
   */
  readonly key: string;
  readonly call: EventOf<'tool_call'>;
  readonly attempts: AttemptState[];
  settled: EventOf<'tool_result'> | undefined;
  /** The question that waits for an answer. */
  pending: EventOf<'tool_yield'> | undefined;
  /** Questions with their answers, one of a kind, in the order in which they were answered. */
  answered: readonly AnsweredRequest[];
  /** How many questions were asked about it. */
  generation: number;
  /** The tool that the next attempt is made with, when it is not the one that was asked for. */
  fallback: string | undefined;
}
