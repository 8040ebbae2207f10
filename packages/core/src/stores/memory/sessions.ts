import type { ListOptions, SessionListing } from '../../ledger/port.ts';
import { compareListings, isListed } from '../listing.ts';
import type { MemoryLedger } from './ledger.ts';

/** The sessions that match the options, newest first. */
export function listedSessions(
  ledgers: ReadonlyMap<string, MemoryLedger>,
  options: ListOptions,
): readonly SessionListing[] {
  const { id } = options;
  const named =
    id === undefined
      ? ledgers.values()
      : [ledgers.get(id)].filter((ledger) => ledger !== undefined);
  return Array.from(named, (ledger) => ledger.listing)
    .filter((listing) => isListed(listing, options))
    .sort(compareListings(options.order));
}

/** Ids of the sessions in which a run with this id began, the last changed first. */
export function sessionsOfRun(ledgers: readonly MemoryLedger[], run: string): readonly string[] {
  return ledgers
    .filter((ledger) => ledger.hasRun(run))
    .map((ledger) => ledger.listing)
    .sort(compareListings('updatedAt'))
    .map(({ id }) => id);
}
