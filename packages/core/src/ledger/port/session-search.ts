import type { LedgerStore } from '../port.ts';
import type { ListOptions, SessionListing } from './session-listing.ts';

/** Sessions that are searched, and for what. */
export interface SessionSearchQuery {
  readonly tenant: string;
  readonly app: string;
  /** The ledgers of the tenant and app. */
  readonly ledgers: LedgerStore;
  readonly text: string;
  /**
   * Filters and order of the list whose sessions are searched, and the place behind which the
   * search goes on.
   */
  readonly list: Omit<ListOptions, 'limit'>;
  /** Number of sessions to find at most. */
  readonly limit: number;
}

/** Part of the sessions that match, in the order of the list. */
export interface SessionSearchResult {
  readonly sessions: readonly SessionListing[];
  /**
   * The session up to which the list was searched; missing when all of it was. A search that has
   * taken long may end before it has found as many as its limit.
   */
  readonly last?: NonNullable<ListOptions['before']>;
}

/**
 * Search of sessions by the text of their messages: `runtime({ search })`, for an app that has an
 * engine for it.
 */
export interface SessionSearch {
  find(query: SessionSearchQuery): Promise<SessionSearchResult>;
}
