import { defined } from '../../base/defined.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import type { EventDraft } from '../../ledger/event.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** Number of runs of one user that may wait for answers at a time. */
export const defaultWaitingRuns = 10;

/**
 * Returns the events that end a waiting run whose user has as many waiting runs as are allowed;
 * none when it may wait. Runs that wait only for a message, and sessions without a user, do not
 * count.
 * @throws StoreUnavailableError
 */
export async function tooManyWaiting(
  ledger: Ledger,
  runId: string,
  limit: number,
): Promise<readonly EventDraft[]> {
  const { user, session, requests } = ledger;
  if (user === undefined || requests.size === 0) return [];
  const waiting = new Set<string>();
  let after: { readonly createdAt: number; readonly requestId: string } | undefined;
  do {
    const page = await ledger.ports.store.requests({
      user,
      status: 'pending',
      ...defined({ after }),
    });
    for (const row of page) if (row.session !== session) waiting.add(row.session);
    after = page.at(-1);
  } while (after !== undefined && waiting.size < limit);
  if (waiting.size < limit) return [];
  const count = waiting.size;
  const reason = `The user "${user}" has ${count} runs that wait for answers, and ${limit} may.`;
  const data = { user, waiting: count, limit };
  return [
    decision('limits', 'too_many_waiting', { invocationId: runId, reasoning: reason, data }),
    { type: 'cancel', by: 'runtime', invocationId: runId, reason },
  ];
}
