import { defined } from '../../../base/defined.ts';
import { isAdjutantError } from '../../../base/error.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import { lastRecord } from '../../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { belongsTo } from '../../../ledger/path.ts';
import type { LedgerStore, SessionListing } from '../../../ledger/port.ts';
import type { RunContext } from '../../frame/run-context.ts';
import type { RunWait } from '../../frame/run-release.ts';
import { openRoots } from '../root-run.ts';

/** Number of runs of one user that may wait at a time. */
export const defaultWaitingRuns = 10;

/** Sessions that one look at the store brings. */
const pageSize = 100;
/** Events at the end of a ledger among which the yields of a waiting run are. */
const tailLength = 100;

/** True when a run waits for a message and for nothing else. */
export function waitsForMessage(
  { requests }: Ledger,
  runId: string,
  { leaves, pausedFor }: RunWait,
): boolean {
  return (
    pausedFor === undefined &&
    leaves.some(({ reason }) => reason === 'input') &&
    leaves.every(({ reason }) => reason !== 'sleep') &&
    [...requests.values()].every(({ invocationId }) => !belongsTo(invocationId, runId))
  );
}

/**
 * Returns the events that end a waiting run when as many runs of its user wait as are allowed; none
 * when it may wait. Runs of sessions without a user have a limit of their own.
 * @throws StoreUnavailableError
 */
export async function tooManyWaiting(
  { app, ledger, runId }: RunContext,
  wait: RunWait,
): Promise<readonly EventDraft[]> {
  const { user, session, requests } = ledger;
  const limit = user === undefined ? app.waitingRunsWithoutUser : app.waitingRunsPerUser;
  if (limit === undefined) return [];
  if (requests.size === 0 && !waitsForMessage(ledger, runId, wait)) return [];
  const elsewhere = await countWaiting(ledger.ports.store, { user, session, limit });
  const waiting = elsewhere + waitingBeside(ledger, runId);
  if (waiting < limit) return [];
  const whose = user === undefined ? 'Sessions without a user have' : `The user "${user}" has`;
  const runs = waiting === 1 ? '1 run that waits' : `${waiting} runs that wait`;
  const reason = `${whose} ${runs}, and ${limit} may.`;
  const data = { ...defined({ user }), waiting, limit };
  return [
    decision('limits', 'too_many_waiting', { invocationId: runId, reasoning: reason, data }),
    { type: 'cancel', by: 'runtime', invocationId: runId, reason },
  ];
}

/** Counts the runs in other lanes of the session that wait for somebody. */
function waitingBeside(ledger: Ledger, runId: string): number {
  return [...openRoots({ ledger })].filter(({ path }) => {
    const last = lastRecord(ledger.invocations, path);
    const isForSomebody = last?.yielded === 'input' || last?.yielded === 'tool_input';
    return path !== runId && last?.status === 'yielded' && isForSomebody;
  }).length;
}

/** Counts the other sessions of a user that wait for somebody, up to the limit. */
async function countWaiting(
  store: LedgerStore,
  {
    user,
    session,
    limit,
  }: { readonly user: string | undefined; readonly session: string; readonly limit: number },
): Promise<number> {
  let count = 0;
  let before: SessionListing | undefined;
  // Ledgers are read only where the limit could be reached: the list does not tell for what.
  const unread: SessionListing[] = [];
  do {
    const page: readonly SessionListing[] = await store.list({
      status: 'awaiting_input',
      limit: pageSize,
      ...defined({ user, before }),
    });
    unread.push(...page.filter((one) => one.id !== session && one.user === user));
    before = page.length < pageSize ? undefined : page.at(-1);
    while (count < limit && count + unread.length >= limit)
      if (await waitsForSomebody(store, unread.shift() as SessionListing)) count += 1;
  } while (before !== undefined && count < limit);
  return Math.min(count + unread.length, limit);
}

/** False for a session whose run sleeps or is paused: it waits for nobody. */
async function waitsForSomebody(store: LedgerStore, { id, seq }: SessionListing): Promise<boolean> {
  const reasons = new Set<string>();
  try {
    for await (const page of store.readStored(id, { after: Math.max(0, seq - tailLength) }))
      for (const event of page) {
        if (event.type === 'invocation_resume') reasons.clear();
        if (event.type === 'invocation_yield') reasons.add(event.reason);
      }
  } catch (error) {
    if (isAdjutantError(error, 'session_not_found')) return false;
    throw error;
  }
  return reasons.size === 0 || reasons.has('input') || reasons.has('tool_input');
}
