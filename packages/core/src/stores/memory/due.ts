import type { DueSession } from '../../ledger/port.ts';
import { OwnerSurvey } from '../owner.ts';
import type { MemoryLedger } from './ledger.ts';

/** A source of sessions that are due, each with the time since which it is. */
interface DueSource {
  dueSessions(
    now: number,
    owners: OwnerSurvey,
  ): readonly { readonly since: number; readonly session: DueSession }[];
}

/** Returns the sessions of several sources that have been due longest, at most `limit` of them. */
export function longestDue(
  stores: readonly DueSource[],
  now: number,
  limit: number,
): readonly DueSession[] {
  const owners = new OwnerSurvey();
  return stores
    .flatMap((store) => store.dueSessions(now, owners))
    .sort((left, right) => left.since - right.since)
    .slice(0, limit)
    .map(({ session }) => session);
}

/** The sessions of a tenant and app that are due, each with the time since which it is. */
export function dueOf(
  ledgers: Iterable<MemoryLedger>,
  scope: { readonly tenant: string; readonly app: string },
  now: number,
  owners: OwnerSurvey,
): { readonly since: number; readonly session: DueSession }[] {
  const due = [];
  for (const ledger of ledgers) {
    const since = ledger.dueSince(now, owners);
    if (since !== undefined) due.push({ since, session: { ...scope, session: ledger.session } });
  }
  return due;
}
