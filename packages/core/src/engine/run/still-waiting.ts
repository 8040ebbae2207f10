import { isDecision } from '../../ledger/decisions/decision.ts';
import type { Event, EventDraft } from '../../ledger/event.ts';
import { lastRecord } from '../../ledger/folds/invocation-fold.ts';
import { isOfOtherLane, laneAt } from '../../ledger/folds/lanes.ts';
import { firstSleepEnd } from '../../ledger/folds/sleeps.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { openDetachedIn } from '../frame/open-detached.ts';

/** Checks that the ledger already has this yield of a waiting invocation. */
export function isYieldRecorded({ invocations }: Ledger, draft: EventDraft): boolean {
  const record = invocations.byPath.get(draft.invocationId ?? '');
  return (
    draft.type === 'invocation_yield' &&
    record?.status === 'yielded' &&
    record.yielded === draft.reason
  );
}

/** The last event that may concern a lane and is no note about a request. */
function lastBeforeNotes({ events, invocations }: Ledger, lane: string): Event | undefined {
  return events.findLast(
    (event) => !isDecision(event, 'request', 'notify') && !isOfOtherLane(invocations, event, lane),
  );
}

/** Sequence number of the last event that may concern a lane. */
export function lastSeqIn({ events, invocations }: Ledger, lane: string): number {
  return events.findLast((event) => !isOfOtherLane(invocations, event, lane))?.seq ?? 0;
}

/** Checks that nothing has happened since a run was released, so that it would only wait again. */
export function isStillWaiting(ledger: Ledger, runId: string): boolean {
  const { invocations } = ledger;
  const root = lastRecord(invocations, runId);
  const lane = laneAt(invocations, runId);
  const isReleased =
    root?.status === 'yielded' &&
    lastBeforeNotes(ledger, lane)?.type === 'invocation_yield' &&
    openDetachedIn(ledger, lane).length === 0 &&
    (firstSleepEnd(invocations, lane) ?? Number.POSITIVE_INFINITY) > ledger.ports.clock.now();
  // A copied ledger makes the requests of its original anew.
  return (
    isReleased &&
    [...ledger.requests.values()].every(
      ({ requestId, callId, generation, invocationId }) =>
        requestId === ledger.requestId(callId, generation) ||
        laneAt(invocations, invocationId) !== lane,
    )
  );
}
