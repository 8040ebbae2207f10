import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api } from '../../api/client.ts';

/** Milliseconds after the last move before the server is asked. */
const askAfterMs = 60;
/** Milliseconds between two questions of a reader who goes on moving; the first few are free. */
const gapMs = 200;
const free = 5;

/**
 * Everything the panels show of a session at one event. While another one is asked for, the last
 * answer stays, and `isOld` says so. Answers for other events are dropped.
 */
export function useMoment(session: string, seq: number) {
  const asked = useRest(seq);
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

/**
 * Returns the place at which the reader rests: the last one of a movement, and in the long run at
 * most five in a second. The question about the one before is given up.
 */
function useRest(seq: number): number {
  const [rest, setRest] = useState(seq);
  // The time at which the questions so far would have been asked, one at each gap.
  const spent = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const allowedAt = spent.current - (free - 1) * gapMs;
    const timer = setTimeout(
      () => {
        spent.current = Math.max(spent.current, performance.now()) + gapMs;
        setRest(seq);
      },
      Math.max(askAfterMs, allowedAt - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [seq]);
  return rest;
}
