import type { z } from '@hono/zod-openapi';
import type { SessionListing, SessionPage } from 'adjutant';
import { defined } from 'adjutant/text';
import { type Asking, reachableSession } from '../../http/reachable.ts';
import type { UsageFilter } from '../../runs/session-usage.ts';
import type { usageQuerySchema } from '../../schemas/usage.ts';

type UsageQuery = z.infer<typeof usageQuerySchema>;

/** Sessions of a page, in the order in which they were made, in which none is missed. */
export async function lookedAt(
  input: Asking,
  { session, user: wanted, limit, cursor }: UsageQuery,
): Promise<SessionPage> {
  const user = wanted ?? input.principal.user;
  if (session !== undefined) {
    const listing = await reachableSession(input, session);
    return { sessions: user === undefined || listing.user === user ? [listing] : [] };
  }
  return input.app.sessions.list({
    order: 'createdAt',
    limit,
    ...defined({ user, cursor }),
  });
}

/** True when no event of a session lies between the two times. */
export function mustBeIdle(
  { createdAt, updatedAt }: SessionListing,
  { from = 0, to = Number.POSITIVE_INFINITY }: UsageFilter,
): boolean {
  return updatedAt < from || createdAt >= to;
}

/** True when a page has everything that was asked for. */
export function isPageComplete(query: UsageQuery, next: string | undefined): boolean {
  return query.cursor === undefined && next === undefined;
}
