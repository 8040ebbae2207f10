import type { ServerAgent } from '@adjutant/server/client';
import { useQuery } from '@tanstack/react-query';
import { api } from './client.ts';

const none: readonly ServerAgent[] = [];

/** The runnables that the reader may know of. */
export function useAgents(): readonly ServerAgent[] {
  const { data = none } = useAgentList();
  return data;
}

/** The same, with the state of the reading. */
export function useAgentList() {
  return useQuery({
    queryKey: ['agents'],
    queryFn: ({ signal }) => api.agents.list({ signal }),
    staleTime: 60_000,
  });
}
