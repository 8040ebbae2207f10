import type { ServerSession } from '@adjutant/server/client';
import { useQuery } from '@tanstack/react-query';
import { isMadeOnly, mayBeMadeOnly } from '../ledger/begun.ts';
import type { LedgerEvent } from '../ledger/event-pages.ts';
import { api } from './client.ts';
import { queries } from './queries.ts';

/** Events that the edits of a fork are at most, and some more. */
const longestMaking = 300;

function reading({ id, seq }: ServerSession) {
  return {
    queryKey: ['made-only', id, seq],
    queryFn: async (): Promise<boolean> => {
      const after = Math.max(0, seq - longestMaking);
      const { events } = await api.sessions.eventPage(id, { after, limit: longestMaking });
      return isMadeOnly(id, events as readonly LedgerEvent[]);
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  };
}

/** Returns true for a fork that was made, and that nothing has run yet. Its status is `active`. */
export async function readMadeOnly(session: ServerSession): Promise<boolean> {
  if (!mayBeMadeOnly(session)) return false;
  // One that was deleted meanwhile, or is out of reach, is left as the server has told it.
  return queries.fetchQuery(reading(session)).catch(() => false);
}

/** The same, for a part of a page. */
export function useMadeOnly(session: ServerSession | undefined): boolean {
  const { data = false } = useQuery({
    ...reading(session ?? noSession),
    enabled: session !== undefined && mayBeMadeOnly(session),
  });
  return session !== undefined && data;
}

const noSession: ServerSession = { id: '', status: 'active', seq: 0, createdAt: 0, updatedAt: 0 };
