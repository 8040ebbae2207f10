import { useEffect, useState } from 'react';
import { api } from '../../../api/client.ts';

/** Milliseconds after the last key before the server is asked. */
const askAfterMs = 250;
const mostFound = 5_000;

interface Search {
  /** Events with the text; `undefined` while nothing is looked for. */
  readonly seqs: ReadonlySet<number> | undefined;
  readonly isReading: boolean;
}

const nothing: Search = { seqs: undefined, isReading: false };

/** Finds the events of a session that have a text: the server looks, page after page. */
export function useTextSearch(session: string, text: string, count: number): Search {
  const [search, setSearch] = useState<Search>(nothing);
  const wanted = text.trim();
  useEffect(() => {
    if (wanted === '') {
      setSearch(nothing);
      return undefined;
    }
    const leaving = new AbortController();
    const timer = setTimeout(async () => {
      const seqs = new Set<number>();
      setSearch({ seqs: new Set(), isReading: true });
      let after = 0;
      while (after < count && seqs.size < mostFound && !leaving.signal.aborted) {
        const { events, next } = await api.sessions.eventPage(session, {
          after,
          limit: 1_000,
          text: wanted,
          signal: leaving.signal,
        } as never);
        for (const { seq } of events) seqs.add(seq);
        if (next <= after) break;
        after = next;
        setSearch({ seqs: new Set(seqs), isReading: true });
      }
      if (!leaving.signal.aborted) setSearch({ seqs: new Set(seqs), isReading: false });
    }, askAfterMs);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [session, wanted, count]);
  return search;
}
