import type { Runtime, SessionListing } from 'adjutant';
import type { Look } from '../watches/watch.ts';

/** Sessions that have changed last, as of a look. */
export interface KnownSessions {
  /** Newest time of a change that was seen. */
  readonly newest: number;
  /** Sessions that changed shortly before that, by id, as text by which they are compared. */
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Milliseconds from a hint to a look: with it a session is told of four times a second at most.
 */
export const sessionSettleMs = 250;
const pageSize = 100;
/**
 * Milliseconds before the newest change that each look reads again: writers that land late may have
 * taken the time before others that landed first.
 */
const overlapMs = 5_000;

/** Looks at the sessions of an app that have changed since the look before. */
export function sessionLook({
  sessions,
}: Pick<Runtime, 'sessions'>): Look<KnownSessions, SessionListing> {
  return async (before) => {
    const found = await changedLast(sessions, before?.newest);
    const newest = Math.max(before?.newest ?? 0, ...found.map(({ updatedAt }) => updatedAt));
    const texts = new Map(found.map((listing) => [listing.id, JSON.stringify(listing)]));
    const known = { newest, texts };
    if (before === undefined) return { known, changes: [] };
    const isChanged = ({ id }: SessionListing): boolean => before.texts.get(id) !== texts.get(id);
    // In the order of their changes; the list has the newest first.
    return { known, changes: found.filter(isChanged).reverse() };
  };
}

/** The sessions from the newest one back to those that changed shortly before the given time. */
async function changedLast(
  sessions: Runtime['sessions'],
  since: number | undefined,
): Promise<readonly SessionListing[]> {
  const found: SessionListing[] = [];
  let cursor: string | undefined;
  do {
    const page = await sessions.list({
      limit: pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const from = (since ?? page.sessions[0]?.updatedAt ?? 0) - overlapMs;
    since ??= page.sessions[0]?.updatedAt;
    for (const listing of page.sessions) {
      if (listing.updatedAt < from) return found;
      found.push(listing);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}
