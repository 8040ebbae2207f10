import { decision } from '../../../ledger/decisions/decision.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import { lastRecord } from '../../../ledger/folds/invocation-fold.ts';
import { laneAt } from '../../../ledger/folds/lanes.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { openRoot } from '../root-run.ts';
import { isStillWaiting } from '../still-waiting.ts';

/**
 * Time in epoch milliseconds at which the open run of a lane is cancelled for want of a message;
 * `undefined` when it waits for something else, or for as long as it takes.
 */
export function messageExpiry(ledger: Ledger, lane: string): number | undefined {
  const root = openRoot({ ledger }, lane);
  const last = root === undefined ? undefined : lastRecord(ledger.invocations, root.path);
  if (last?.status !== 'yielded') return undefined;
  const yielded = last.events.findLast(({ type }) => type === 'invocation_yield');
  return yielded?.type === 'invocation_yield' ? yielded.expiresAt : undefined;
}

/** Events that end a run for which no message came in time; none when it may go on waiting. */
export function expiredWait(ledger: Ledger, runId: string, now: number): readonly EventDraft[] {
  const expiresAt = messageExpiry(ledger, laneAt(ledger.invocations, runId));
  if (expiresAt === undefined || now < expiresAt || !isStillWaiting(ledger, runId)) return [];
  const reason = 'No message came in time.';
  return [
    decision('limits', 'message_expired', {
      invocationId: runId,
      reasoning: reason,
      data: { expiresAt },
    }),
    { type: 'cancel', by: 'runtime', invocationId: runId, reason },
  ];
}
