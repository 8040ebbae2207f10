import type { Event } from '../../../ledger/event.ts';
import { parentOf } from '../../../ledger/path.ts';

/** Types of errors by which a call ends when something beside it ends its body. */
const ofCutOffs: ReadonlySet<string> = new Set(['cancelled', 'unknown_outcome']);

/**
 * True when a run has not seen what a call comes to, because its body failed first: of two calls
 * that run at the same time and fail, the faster one cuts off the other.
 */
export function isOutcomeUnseen(events: readonly Event[], callId: string): boolean {
  const isSeen = events.some(
    (event) =>
      event.type === 'tool_result' &&
      event.callId === callId &&
      event.late !== true &&
      !ofCutOffs.has(event.result.errorType ?? ''),
  );
  const hasFailed = events.some(
    (event) =>
      event.type === 'invocation_end' &&
      event.status === 'error' &&
      event.invocationId === parentOf(callId),
  );
  return !isSeen && hasFailed;
}
