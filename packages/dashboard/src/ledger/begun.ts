import type { ServerSession } from '@adjutant/server/client';
import type { LedgerEvent } from './event-pages.ts';

/** Milliseconds within which everything is written that a fork begins with. */
const makingMs = 1_000;

/** False when more was written to a session than the making of a fork writes. */
export function mayBeMadeOnly(
  session: Pick<ServerSession, 'status' | 'agent' | 'createdAt' | 'updatedAt'>,
): boolean {
  const { status, agent, createdAt, updatedAt } = session;
  return status === 'active' && agent !== undefined && updatedAt - createdAt < makingMs;
}

/**
 * True when a session is a fork that nothing has run yet: since it was made, its last events are
 * those of its edits alone.
 */
export function isMadeOnly(session: string, events: readonly LedgerEvent[]): boolean {
  const made = events.findLastIndex(
    (event) =>
      event.type === 'decision' &&
      event['component'] === 'fork' &&
      (event['data'] as { readonly session?: unknown } | undefined)?.session === session,
  );
  return made !== -1 && events.slice(made + 1).every(isOfEdit);
}

function isOfEdit(event: LedgerEvent): boolean {
  if (event.type === 'decision') return event['component'] === 'edit';
  if (event.type === 'user') return event['replaces'] !== undefined;
  return event.type === 'state_change' && event['invocationId'] === undefined;
}
