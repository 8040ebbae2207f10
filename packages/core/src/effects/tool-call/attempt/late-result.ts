import { noWrites } from '../../writes.ts';
import type { Attempt } from './attempt.ts';
import { attemptResult } from './attempt-draft.ts';
import { classifiedEnding, type Ending, returnedEnding } from './ending.ts';

/**
 * Records the result of an abandoned tool as late, when it comes. It does not change the result of
 * the call.
 * @param begunAt monotonic time in milliseconds at which the tool began
 */
export function recordLateResult(
  attempt: Attempt,
  executing: Promise<unknown>,
  begunAt: number,
): void {
  const record = (ending: Ending): void => appendLateResult(attempt, ending, begunAt);
  executing.then(
    (returned) => record(returnedEnding(attempt, returned)),
    (thrown) => record(classifiedEnding(attempt, thrown)),
  );
}

function appendLateResult(
  abandoned: Attempt,
  { result: given, effect, retryAfterMs }: Ending,
  begunAt: number,
): void {
  const { state, tool, args, attempt, guidance, ports } = abandoned;
  const { ledger, clock, supervisor } = ports;
  if (ledger.failure !== undefined || ledger.lease.claim === undefined) return;
  const durationMs = clock.monotonic() - begunAt;
  const ended = {
    state,
    tool,
    args,
    attempt,
    result: given,
    effect,
    retryAfterMs,
    guidance,
    isLast: true,
  };
  const { result, notes, writes } = supervisor?.late(ended) ?? {
    result: given,
    notes: undefined,
    writes: noWrites,
  };
  const more = { settled: false, late: true as const, durationMs, effect, notes };
  ledger.append([...writes.drafts, attemptResult(abandoned, result, more)]);
}
