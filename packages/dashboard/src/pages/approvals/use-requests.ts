import type { ServerRequest } from '@adjutant/server/client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { soonestFirst } from './request-words.ts';

const pageSize = 200;
/** Requests that the page holds at most. */
export const mostShown = 1_000;

/** Requests that wait for an answer, those first whose time ends first. */
export function usePending() {
  return useQuery({
    queryKey: ['approvals', 'pending'],
    queryFn: async ({ signal }) =>
      soonestFirst(await readAll({ status: 'pending', most: mostShown }, signal)),
  });
}

/** Requests that do not wait any more, the last answered first. */
export function useSettled(isShown: boolean) {
  return useQuery({
    queryKey: ['approvals', 'settled'],
    queryFn: ({ signal }) => readSettled(signal),
    enabled: isShown,
  });
}

const dayMs = 86_400_000;
/** Times back to which settled requests are looked for, one after the other. */
const spans = [7 * dayMs, 90 * dayMs, Number.POSITIVE_INFINITY];
/** Settled requests with which the page is content. */
const enough = 100;
/** Requests of a span that are read at most: the list begins with its oldest one. */
const mostRead = 5_000;

async function readSettled(signal: AbortSignal): Promise<readonly ServerRequest[]> {
  let settled: readonly ServerRequest[] = [];
  for (const span of spans) {
    const from = Math.max(0, Date.now() - span);
    const requests = await readAll({ status: 'all', from, most: mostRead }, signal);
    settled = requests.filter(({ status }) => status !== 'pending');
    if (settled.length >= enough) break;
  }
  return settled
    .toSorted((a, b) => (b.settledAt ?? b.createdAt) - (a.settledAt ?? a.createdAt))
    .slice(0, mostShown);
}

interface Reading {
  readonly status: 'pending' | 'all';
  readonly from?: number;
  readonly most: number;
}

async function readAll(
  { most, ...query }: Reading,
  signal: AbortSignal,
): Promise<readonly ServerRequest[]> {
  const requests: ServerRequest[] = [];
  const listing = api.approvals.list({ ...query, limit: pageSize }, { signal });
  let cursor: string | undefined;
  do {
    const page = await listing.page(cursor);
    requests.push(...page.requests);
    cursor = page.cursor;
  } while (cursor !== undefined && requests.length < most);
  return requests;
}

export function useRequest(requestId: string | undefined) {
  return useQuery({
    queryKey: ['approvals', 'one', requestId],
    queryFn: ({ signal }) => api.approvals.get(requestId ?? '', { signal }),
    enabled: requestId !== undefined,
  });
}

/**
 * Returns the title of a session, once it is known. Those that wait for a person are read together,
 * others one by one.
 */
export function useSessionTitle(session: string): string | undefined {
  const { data: asking } = useQuery({
    queryKey: ['session-titles'],
    queryFn: async ({ signal }) => {
      const listing = api.sessions.list({ status: 'awaiting_input', limit: pageSize }, { signal });
      const { sessions } = await listing.page();
      return Object.fromEntries(sessions.map(({ id, title }) => [id, title ?? null] as const));
    },
    staleTime: 60_000,
  });
  const isAsking = asking !== undefined && Object.hasOwn(asking, session);
  const { data: other } = useQuery({
    queryKey: ['session-titles', session],
    queryFn: async ({ signal }) => (await api.sessions.get(session, { signal })).title ?? null,
    enabled: asking !== undefined && !isAsking,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (isAsking ? asking[session] : other) ?? undefined;
}

/** Event of the ledger, as far as the page reads it. */
export interface RequestEvent {
  readonly seq: number;
  readonly args?: unknown;
  readonly request?: Readonly<Record<string, unknown>>;
  readonly decision?: ServerRequest['options'][number];
  readonly reason?: string;
}

/** Finds where in its ledger a request was asked, or answered. */
export function useRequestEvent(
  { requestId, session }: Pick<ServerRequest, 'requestId' | 'session'>,
  type: 'tool_yield' | 'tool_input',
  isWanted = true,
) {
  return useQuery({
    queryKey: ['request-event', requestId, type],
    queryFn: async ({ signal }): Promise<RequestEvent | null> => {
      const query = { type: [type], text: requestId, signal };
      for await (const event of api.sessions.events(session, query))
        if ('requestId' in event && event.requestId === requestId)
          return event as unknown as RequestEvent;
      return null;
    },
    enabled: isWanted,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
