import { useEffect, useState } from 'react';
import { api } from '../../../api/client.ts';
import { useLate } from '../../../components/use-late.ts';

const mostFound = 5_000;

interface Search {
  /** Events with the text; `undefined` while nothing is looked for. */
  readonly seqs: ReadonlySet<number> | undefined;
  readonly isReading: boolean;
  /** Reason why the search ended early. */
  readonly problem?: string;
}

const nothing: Search = { seqs: undefined, isReading: false };

/** Finds the events of a session that have a text: the server looks, page after page. */
export function useTextSearch(session: string, text: string, count: number): Search {
  const [search, setSearch] = useState<Search>(nothing);
  const wanted = useLate(text.trim());
  useEffect(() => {
    if (wanted === '') {
      setSearch(nothing);
      return undefined;
    }
    const leaving = new AbortController();
    const { signal } = leaving;
    const seqs = new Set<number>();
    const tell = (rest: Omit<Search, 'seqs'>): void => {
      if (!signal.aborted) setSearch({ seqs: new Set(seqs), ...rest });
    };
    const read = async (): Promise<void> => {
      let after = 0;
      while (after < count && seqs.size < mostFound) {
        tell({ isReading: true });
        const page = await api.sessions.eventPage(session, {
          ...{ after, limit: 1_000, text: wanted, signal },
        });
        for (const { seq } of page.events) seqs.add(seq);
        if (page.next <= after) break;
        after = page.next;
      }
      tell({ isReading: false });
    };
    read().catch((error: unknown) =>
      tell({ isReading: false, problem: error instanceof Error ? error.message : String(error) }),
    );
    return () => leaving.abort();
  }, [session, wanted, count]);
  return search;
}
