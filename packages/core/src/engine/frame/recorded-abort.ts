import { AbortReason } from '../../base/cancel-scope.ts';
import type { ErrorRecord } from '../../base/error.ts';
import type { Event } from '../../ledger/event.ts';
import type { RunContext } from './run-context.ts';

/** Ends a run because an error handler wants it to. */
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
 * Ends a run again that an error handler has ended when this was recorded: in a replay nobody asks
 * the handler.
 */
export function abortAsRecorded(run: RunContext, events: readonly Event[], message: string): void {
  const found = events.find(
    (event) =>
      event.type === 'decision' &&
      event.component === 'error_handler' &&
      event.decision === 'abort',
  );
  if (found?.type === 'decision')
    abortForHandler(run, String(found.data?.['handler']), { message });
}
