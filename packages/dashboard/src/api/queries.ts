import { QueryClient } from '@tanstack/react-query';
import { refusalOf } from './client.ts';

/** Milliseconds for which an answer counts as fresh where no stream says otherwise. */
const freshMs = 5_000;

/** Answers of the server that pages share. The client itself repeats lost requests. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: freshMs,
      retry: (failures, error) => refusalOf(error) === undefined && failures < 2,
      refetchOnWindowFocus: true,
    },
  },
});
