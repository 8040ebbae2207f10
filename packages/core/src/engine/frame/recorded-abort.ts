import { AbortReason } from '../../base/cancel-scope.ts';
import type { ErrorRecord } from '../../base/error.ts';
import { isDecision } from '../../ledger/decisions/decision.ts';
import type { Event } from '../../ledger/event.ts';
import type { RunContext } from './run-context.ts';

/** Ends a run as its error handler decided. */
export function abortForHandler(
  run: RunContext,
  handler: string,
  error: Pick<ErrorRecord, 'message'>,
): void {
  run.abort(
    new AbortReason('cancelled', `The error handler "${handler}" ended the run: ${error.message}`),
  );
}

/**
 * Ends a run in a replay when the record says that an error handler ended it. A replay calls no
 * handler.
 */
export function abortAsRecorded(run: RunContext, events: readonly Event[], message: string): void {
  const found = events.find((event) => isDecision(event, 'error_handler', 'abort'));
  if (found !== undefined) abortForHandler(run, String(found.data?.handler), { message });
}
