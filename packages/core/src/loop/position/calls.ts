import type { EventOf } from '../../ledger/event.ts';
import type { CallState, RequestWithAnswer } from '../call-state.ts';

/** Tool calls of the open round. */
export interface CallsState {
  /** Calls by `callId`, in the order in which the model made them. */
  readonly byId: Map<string, CallState>;
  /** Number of calls without a final result. */
  unsettled: number;
}

export function startCalls(): CallsState {
  return { byId: new Map(), unsettled: 0 };
}

const noAnswers: readonly RequestWithAnswer[] = Object.freeze([]);

/** Folds a call of the model. */
export function addCall(calls: CallsState, event: EventOf<'tool_call'>): void {
  calls.byId.set(event.callId, {
    key: `tool:${event.callId}`,
    call: event,
    attempts: [],
    settled: undefined,
    pending: undefined,
    answered: noAnswers,
    generation: 0,
    fallback: undefined,
  });
  calls.unsettled++;
}

/** Folds an attempt of a call. */
export function addAttempt({ byId }: CallsState, event: EventOf<'tool_attempt'>): void {
  const { attempt, key, seq, deadline, epoch, tool } = event;
  byId
    .get(event.callId)
    ?.attempts.push({ attempt, key, seq, deadline, epoch, tool, result: undefined });
}

/** Folds a result that came in time. @returns the call that it settles, if it settles one */
export function addResult(calls: CallsState, event: EventOf<'tool_result'>): CallState | undefined {
  const state = calls.byId.get(event.callId);
  if (state === undefined) return undefined;
  const attempt = state.attempts.find((candidate) => candidate.attempt === event.attempt);
  if (attempt !== undefined) attempt.result = event;
  if (event.fallback !== undefined) state.fallback = event.fallback;
  if (!event.settled || state.settled !== undefined) return undefined;
  state.settled = event;
  state.pending = undefined;
  calls.unsettled--;
  return state;
}

/** Folds a request about a call. */
export function addRequest({ byId }: CallsState, event: EventOf<'tool_yield'>): void {
  const state = byId.get(event.callId);
  if (state === undefined) return;
  state.pending = event;
  state.generation = event.generation;
  // A request that is made again has not been answered.
  state.answered = state.answered.filter(({ request }) => request.kind !== event.kind);
}

/** Folds the answer to a request about a call. */
export function answerRequest({ byId }: CallsState, event: EventOf<'tool_input'>): void {
  const state = byId.get(event.callId);
  if (state?.pending?.requestId !== event.requestId) return;
  state.answered = [...state.answered, { request: state.pending, answer: event }];
  state.pending = undefined;
}

/** Removes a withdrawn request as if it had never been made. */
export function withdrawFromCalls({ byId }: CallsState, requestId: string): void {
  for (const state of byId.values())
    if (state.pending?.requestId === requestId) state.pending = undefined;
}
