import { isDecision } from '../../ledger/decisions/decision.ts';
import type { Event, EventDraft } from '../../ledger/event.ts';
import { lastRecord } from '../../ledger/folds/invocation-fold.ts';
import { firstSleepEnd } from '../../ledger/folds/sleeps.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { openDetached } from '../frame/open-detached.ts';

/** Checks that the ledger already has this yield of a waiting invocation. */
export function isYieldRecorded({ invocations }: Ledger, draft: EventDraft): boolean {
  const record = invocations.byPath.get(draft.invocationId ?? '');
  return (
    draft.type === 'invocation_yield' &&
    record?.status === 'yielded' &&
    record.yielded === draft.reason
  );
}

/** The last event that is no note about a request. */
function lastBeforeNotes({ events }: Ledger): Event | undefined {
  return events.findLast((event) => !isDecision(event, 'request', 'notify'));
}

/** Checks that nothing has happened since a run was released, so that it would only wait again. */
export function isStillWaiting(ledger: Ledger, runId: string): boolean {
  const root = lastRecord(ledger.invocations, runId);
  const isReleased =
    root?.status === 'yielded' &&
    lastBeforeNotes(ledger)?.type === 'invocation_yield' &&
    openDetached(ledger).length === 0 &&
    (firstSleepEnd(ledger.invocations) ?? Number.POSITIVE_INFINITY) > ledger.ports.clock.now();
  // A copied ledger makes the requests of its original anew.
  return (
    isReleased &&
    [...ledger.requests.values()].every(
      ({ requestId, callId, generation }) => requestId === ledger.requestId(callId, generation),
    )
  );
}
