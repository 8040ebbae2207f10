import type { EventDraft } from '../../ledger/event.ts';
import { lastRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { openDetached } from './detached-children.ts';

/** Whether the ledger says already what a draft would say of an invocation that waits. */
export function isSaid({ invocations }: Ledger, draft: EventDraft): boolean {
  const record = invocations.byPath.get(draft.invocationId ?? '');
  return (
    draft.type === 'invocation_yield' &&
    record?.status === 'yielded' &&
    record.yielded === draft.reason
  );
}

/**
 * Whether nothing has happened since a run came to rest, so that it would only come to rest again.
 */
export function isStillWaiting(ledger: Ledger, runId: string): boolean {
  const root = lastRecord(ledger.invocations, runId);
  const isAsleep =
    root?.status === 'yielded' &&
    ledger.events.at(-1)?.type === 'invocation_yield' &&
    openDetached(ledger).length === 0;
  // Questions of the ledger that this is a copy of are asked anew.
  return (
    isAsleep &&
    [...ledger.requests.values()].every(
      ({ requestId, callId, generation }) => requestId === ledger.requestId(callId, generation),
    )
  );
}
