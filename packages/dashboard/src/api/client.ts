import { type AdjutantClient, client, ServerProblemError } from '@adjutant/server/client';
import { reachingFetch } from './reach.ts';

/** Address of the server, with the path prefix that it lies behind: that of `<base href>`. */
export const serverUrl = new URL('.', document.baseURI).href.replace(/\/$/, '');

/** Path of the page's addresses: empty, or the prefix without a slash at its end. */
export const basePath = new URL(serverUrl).pathname.replace(/\/$/, '');

/** Milliseconds between two attempts to reach a server that is away, at most. */
const longestPauseMs = 4_000;

/** Calls of the server. A lost request is made again for a minute. */
export const api: AdjutantClient = client({
  url: serverUrl,
  fetch: reachingFetch,
  retry: { maxDelayMs: longestPauseMs },
});

/** Refusal of the server that a page shows as a state of its own. */
export function refusalOf(error: unknown): ServerProblemError | undefined {
  return error instanceof ServerProblemError ? error : undefined;
}
