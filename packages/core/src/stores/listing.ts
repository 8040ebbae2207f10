import type { ListOptions, SessionListing } from '../ledger/port.ts';

type ListPlace = Pick<SessionListing, 'updatedAt' | 'createdAt' | 'id'>;

/** Orders listings, newest first; equal times by id, from the end of the alphabet. */
export function compareListings(
  order: ListOptions['order'] = 'updatedAt',
): (left: ListPlace, right: ListPlace) => number {
  return (left, right) => {
    if (left[order] !== right[order]) return right[order] - left[order];
    if (left.id === right.id) return 0;
    return left.id < right.id ? 1 : -1;
  };
}

/** True when a listing matches the options, on any page. */
export function isListed(
  listing: SessionListing,
  { order, id, status, runnable, user, before }: ListOptions,
): boolean {
  return (
    (id === undefined || listing.id === id) &&
    (status === undefined || listing.status === status) &&
    (runnable === undefined || listing.runnable === runnable) &&
    (user === undefined || listing.user === user) &&
    (before === undefined || compareListings(order)(before, listing) < 0)
  );
}
