import { isAdjutantError } from '../../base/error.ts';
import { RequestSettledError } from '../../ledger/errors.ts';
import type { LedgerStore } from '../../ledger/port.ts';

/**
 * Adds the decision to the error of a request that was answered before. The row has the author of
 * the answer; the inbox or the ledger has the decision. Returns any other error as it is.
 */
export async function withDecision(
  error: unknown,
  store: LedgerStore,
  session: string,
): Promise<unknown> {
  if (
    !isAdjutantError(error, 'request_settled') ||
    error.data['status'] !== 'answered' ||
    error.data['decision'] !== undefined
  )
    return error;
  const requestId = String(error.data['requestId']);
  const by = error.data['by'];
  const decision = await decisionOf(store, session, requestId).catch(() => undefined);
  if (decision === undefined) return error;
  return new RequestSettledError({
    requestId,
    status: 'answered',
    by: typeof by === 'string' ? by : undefined,
    decision,
  });
}

async function decisionOf(
  store: LedgerStore,
  session: string,
  requestId: string,
): Promise<string | undefined> {
  for (const { settles, data } of await store.inbox(session))
    if (settles === requestId) return String(data['decision'] ?? 'answer');
  for await (const page of store.read(session)) {
    for (const event of page)
      if (event.type === 'tool_input' && event.requestId === requestId)
        return event.decision ?? 'answer';
  }
  return undefined;
}
