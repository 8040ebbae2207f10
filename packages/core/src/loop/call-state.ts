import type { EventOf } from '../ledger/event.ts';

/** Execution of a tool. */
export interface AttemptState {
  readonly attempt: number;
  readonly key: string;
  readonly seq: number;
  /** Epoch milliseconds at which the attempt times out. */
  readonly deadline: number | undefined;
  /** Epoch of the owner that made the attempt. */
  readonly epoch: number;
  /** Tool that replaced the requested one. */
  readonly tool?: string | undefined;
  /** Result of the attempt; missing while it runs, or when the process died. */
  result: EventOf<'tool_result'> | undefined;
}

/** Request with its answer. */
export interface RequestWithAnswer {
  readonly request: EventOf<'tool_yield'>;
  readonly answer: EventOf<'tool_input'>;
}

/** Tool call of the open round. */
export interface CallState {
  /**
   * Key of the call in the set of work in flight. Made once, because it is read whenever the next
   * intents are decided.
   */
  readonly key: string;
  readonly call: EventOf<'tool_call'>;
  readonly attempts: AttemptState[];
  settled: EventOf<'tool_result'> | undefined;
  /** Request that waits for an answer. */
  pending: EventOf<'tool_yield'> | undefined;
  /** Requests with their answers, one of a kind, in the order of the answers. */
  answered: readonly RequestWithAnswer[];
  /** Number of requests made about the call. */
  generation: number;
  /** Tool of the next attempt, when it is not the requested one. */
  fallback: string | undefined;
}
