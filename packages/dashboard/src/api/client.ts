import { type AdjutantClient, client, ServerProblemError } from '@adjutant/server/client';

/** Address of the server, with the path prefix that it lies behind: that of `<base href>`. */
export const serverUrl = new URL('.', document.baseURI).href.replace(/\/$/, '');

/** Path of the page's addresses: empty, or the prefix without a slash at its end. */
export const basePath = new URL(serverUrl).pathname.replace(/\/$/, '');

/**
 * Calls of the server. A request that is refused because nobody is signed in says so to `signedOut`
 * as well.
 */
export const api: AdjutantClient = client({
  url: serverUrl,
  // The cookie is the only credential of the page.
  fetch: (input, init) => fetch(input, { ...init, credentials: 'same-origin' }),
});

/** Refusal of the server that a page shows as a state of its own. */
export function refusalOf(error: unknown): ServerProblemError | undefined {
  return error instanceof ServerProblemError ? error : undefined;
}
