import type { AuditEntry } from '@adjutant/server/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { api } from '../../api/client.ts';
import type { AuditFilters } from './audit-filters.ts';

const pageSize = 100;
/** Pages without a match that are read in a row before the reader is asked to go on. */
const mostEmptyPages = 10;

/** Entry with a name of its own: what is equal in all of them is not one entry. */
export interface NamedEntry {
  readonly name: string;
  readonly entry: AuditEntry;
}

/** Entries of a filter, newest first; older ones come by scrolling. */
export function useAudit(filters: AuditFilters) {
  const query = useMemo(() => ({ ...filters, limit: pageSize }), [filters]);
  const pages = useInfiniteQuery({
    queryKey: ['audit', filters],
    queryFn: async ({ pageParam, signal }) => {
      const list = api.audit.list(query, { signal });
      let page = await list.page(pageParam);
      for (let read = 1; read < mostEmptyPages; read++) {
        if (page.entries.length > 0 || page.cursor === undefined) break;
        page = await list.page(page.cursor);
      }
      return page;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.cursor,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data, fetchNextPage, hasNextPage, isFetching } = pages;
  const entries = useMemo(() => named(data?.pages.flatMap((page) => page.entries)), [data]);
  const readMore = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  return { ...pages, entries, readMore };
}

function named(entries: readonly AuditEntry[] | undefined): readonly NamedEntry[] | undefined {
  const seen = new Map<string, number>();
  return entries?.map((entry) => {
    const name = `${entry.requestId} ${entry.at}`;
    const before = seen.get(name) ?? 0;
    seen.set(name, before + 1);
    return { name: before === 0 ? name : `${name} ${before}`, entry };
  });
}
