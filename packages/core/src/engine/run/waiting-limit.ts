import type { EventDraft } from '../../ledger/event.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** Runs of one user that may wait for answers at a time (SETTLED §4). */
export const defaultWaitingRuns = 10;

/**
 * What ends a run that would wait although its user has as many runs waiting as are allowed;
 * nothing when it may. Runs that wait for a message only, and sessions without a user, are not
 * counted.
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
      ...(after === undefined ? {} : { after }),
    });
    for (const row of page) if (row.session !== session) waiting.add(row.session);
    after = page.at(-1);
  } while (after !== undefined && waiting.size < limit);
  if (waiting.size < limit) return [];
  const reason =
    `The user "${user}" has ${waiting.size} runs that wait for answers, and ` + `${limit} may.`;
  const data = { user, waiting: waiting.size, limit };
  return [
    {
      type: 'decision',
      by: 'runtime',
      invocationId: runId,
      component: 'limits',
      decision: 'too_many_waiting',
      reasoning: reason,
      data,
    },
    { type: 'cancel', by: 'runtime', invocationId: runId, reason },
  ];
}
