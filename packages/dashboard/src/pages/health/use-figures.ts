import type { SessionUsage, UsageQuery } from '@adjutant/server/client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import {
  type PartFigures,
  partsOf,
  type SpanName,
  spans,
  totalsOf,
  type WorkFigures,
  withWork,
} from './figures.ts';

const pageSize = 200;
/** Pages of sessions that are summed: ledgers of all of them are read. */
const mostPages = 10;
/** Figures are old for so long before they are read again: reading them is work for the server. */
const freshMs = 60_000;

/** Sums of some pages, and whether these were all. */
interface Summed<Figures> {
  readonly figures: Figures;
  readonly isAll: boolean;
}

/** Tools and rounds of a span. */
export function useWork(span: SpanName) {
  return useQuery({
    queryKey: ['health', 'work', span],
    queryFn: async ({ signal }): Promise<Summed<WorkFigures>> => {
      const query = { from: Date.now() - spans[span].ms, limit: pageSize };
      let figures: WorkFigures = { tools: [], rounds: [] };
      let cursor: string | undefined;
      for (let read = 0; read < mostPages; read++) {
        const page = await api.usage.tools({ ...query, cursor }, { signal });
        figures = withWork(figures, page);
        cursor = page.cursor;
        if (cursor === undefined) return { figures, isAll: true };
      }
      return { figures, isAll: false };
    },
    staleTime: freshMs,
  });
}

/** Models of a span, and their costs part by part. */
export function useCosts(span: SpanName) {
  return useQuery({
    queryKey: ['health', 'costs', span],
    queryFn: async ({ signal }) => {
      const sessions: SessionUsage[] = [];
      const parts: PartFigures[] = [];
      let isAll = true;
      for (const part of partsOf(spans[span], Date.now())) {
        const read = await usageOf(part, signal);
        sessions.push(...read.sessions);
        parts.push({ ...part, ...read.totals });
        isAll &&= read.isAll;
      }
      return { sessions, parts, isAll };
    },
    staleTime: freshMs,
  });
}

async function usageOf(part: UsageQuery, signal: AbortSignal) {
  const sessions: SessionUsage[] = [];
  const totals = { calls: 0, cost: 0, tokens: 0 };
  let cursor: string | undefined;
  for (let read = 0; read < mostPages; read++) {
    const page = await api.usage.page({ ...part, limit: pageSize, cursor }, { signal });
    sessions.push(...page.sessions);
    const { calls, cost, tokens } = totalsOf(page);
    totals.calls += calls;
    totals.cost += cost;
    totals.tokens += tokens;
    cursor = page.cursor;
    if (cursor === undefined) return { sessions, totals, isAll: true };
  }
  return { sessions, totals, isAll: false };
}
