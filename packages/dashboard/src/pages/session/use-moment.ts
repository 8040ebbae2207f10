import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useLate } from '../../components/use-late.ts';

/** Milliseconds after the last move before the server is asked. */
const askAfterMs = 60;

/**
 * Everything the panels show of a session at one event. While another one is asked for, the last
 * answer stays, and `isOld` says so. Answers for other events are dropped.
 */
export function useMoment(session: string, seq: number) {
  const asked = useLate(seq, askAfterMs);
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: ['moment', session, asked],
    queryFn: ({ signal }) => api.sessions.moment(session, { at: asked, signal }),
    enabled: asked > 0,
    // A moment of the past does not change.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 120_000,
    placeholderData: keepPreviousData,
  });
  return { moment: data, error, isOld: isPlaceholderData || asked !== seq };
}
