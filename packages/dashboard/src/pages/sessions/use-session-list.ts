import type { ServerSession } from '@adjutant/server/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo } from 'react';
import { api } from '../../api/client.ts';
import { mergedSessions, type SessionFilters } from './session-filters.ts';

const pageSize = 100;

interface SessionList {
  /** Missing while the first page is read. */
  readonly sessions: readonly ServerSession[] | undefined;
  readonly hasMore: boolean;
  readonly isReadingMore: boolean;
  readonly error: Error | null;
  readonly readMore: () => void;
  readonly again: () => void;
}

/** Sessions of a filter, newest first: the first page is kept new, older ones come by scrolling. */
export function useSessionList(filters: SessionFilters): SessionList {
  const query = useMemo(() => ({ ...filters, limit: pageSize }), [filters]);
  const head = useQuery({
    queryKey: ['sessions', 'head', filters],
    queryFn: ({ signal }) => api.sessions.list(query, { signal }).page(),
  });
  // Not one of the lists that are read again with each change: its pages may be many.
  const pages = useInfiniteQuery({
    queryKey: ['session-pages', filters],
    queryFn: ({ pageParam, signal }) => api.sessions.list(query, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.cursor,
    enabled: head.data?.cursor !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const newest = pages.data?.pages[0]?.sessions[0]?.updatedAt;
  const oldest = head.data?.sessions.at(-1)?.updatedAt;
  const isGap = newest !== undefined && oldest !== undefined && oldest > newest;
  const { refetch, fetchNextPage, hasNextPage, isFetching } = pages;
  useEffect(() => {
    if (isGap) void refetch();
  }, [isGap, refetch]);
  const sessions = useMemo(
    () =>
      head.data === undefined
        ? undefined
        : mergedSessions({
            head: head.data.sessions,
            hasMore: head.data.cursor !== undefined,
            read: pages.data?.pages.flatMap((page) => page.sessions) ?? [],
          }),
    [head.data, pages.data],
  );
  const readMore = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  const hasMore = head.data?.cursor !== undefined && (hasNextPage || pages.isPending);
  const isEmptyYet = sessions?.length === 0 && hasMore;
  useEffect(() => {
    if (isEmptyYet) readMore();
  }, [isEmptyYet, readMore]);
  return {
    // Nothing is said to be missing before all pages were looked at.
    sessions: isEmptyYet ? undefined : sessions,
    hasMore,
    isReadingMore: pages.isFetchingNextPage,
    error: head.error ?? pages.error,
    readMore,
    again: () => void Promise.all([head.refetch(), refetch()]),
  };
}
