import type { IncomingMessage } from 'node:http';
import { parseRetryAfter } from '../../classify.ts';
import { ToolFailure } from '../../errors.ts';
import type { FetchUrlArgs, FetchUrlResult } from './fetched-page.ts';
import { type AddressGuard, guardedRequest } from './guarded-request.ts';
import { assertTextType, contentTypeOf, readText } from './response-text.ts';

const mostRedirects = 5;

export interface FetchSettings {
  readonly guard: AddressGuard;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/**
 * Fetches a text, following redirects. @throws ToolFailure when something is refused or the status
 * is a failure
 */
export async function fetchText(
  args: FetchUrlArgs,
  settings: FetchSettings,
): Promise<FetchUrlResult> {
  const { method = 'GET' } = args;
  let url = checkedUrl(args.url);
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const response = await guardedRequest({ url, method, signal: settings.signal }, settings.guard);
    try {
      const next = redirectOf(response, url);
      if (next === undefined) return await resultOf(response, url, method, settings);
      url = next;
    } finally {
      response.destroy();
    }
  }
  throw new ToolFailure(
    `${shown(url)} was reached after ${mostRedirects} redirects and redirects again.`,
    { errorType: 'too_many_redirects' },
  );
}

function checkedUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null)
    throw refused(
      'invalid_url',
      `"${text.slice(0, 100)}" is not a URL`,
      'Write a whole URL such as "https://example.com/page".',
    );
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refused(
      'url_refused',
      `"${url.protocol}" URLs are refused`,
      'Only http and https are fetched.',
    );
  }
  if (url.username !== '' || url.password !== '')
    throw refused(
      'url_refused',
      'URLs with a user name or password are refused',
      'Use the URL without them.',
    );
  return url;
}

function refused(errorType: string, reason: string, alternative: string): ToolFailure {
  const status = errorType === 'url_refused' ? 'error_blocked' : 'error_permanent';
  return new ToolFailure(`${reason}.`, { errorType, status, alternatives: [alternative] });
}

function redirectOf(response: IncomingMessage, url: URL): URL | undefined {
  const { statusCode = 0, headers } = response;
  if (![301, 302, 303, 307, 308].includes(statusCode) || headers.location === undefined)
    return undefined;
  return checkedUrl(headers.location, url);
}

async function resultOf(
  response: IncomingMessage,
  url: URL,
  method: string,
  settings: FetchSettings,
): Promise<FetchUrlResult> {
  const { statusCode: status = 0 } = response;
  if (status >= 400) throw await statusFailure(response, url, settings.now());
  const contentType = contentTypeOf(response);
  if (method === 'HEAD') return { url: url.href, status, contentType, text: '', truncated: false };
  assertTextType(response);
  return { url: url.href, status, contentType, ...(await readText(response, settings.maxBytes)) };
}

const longestExplanation = 500;

/**
 * Makes the failure of a status. Only reading was asked for, so a failed request had no effect,
 * whatever its status.
 */
async function statusFailure(
  response: IncomingMessage,
  url: URL,
  now: number,
): Promise<ToolFailure> {
  const { statusCode: status = 0, statusMessage = '', headers } = response;
  const retryAfterMs = parseRetryAfter(headers['retry-after'], now);
  const explanation = await explanationIn(response);
  return new ToolFailure(
    `HTTP ${status} ${statusMessage} from ` +
      `${shown(url)}${explanation === '' ? '.' : `: ${explanation}`}`,
    {
      errorType: `http_${status}`,
      effect: 'none',
      ...(retryAfterMs === undefined ? undefined : { retryAfterMs }),
      alternatives: alternativesTo(status),
      data: { status, url: shown(url) },
    },
  );
}

/**
 * Returns the explanation in a response. APIs explain themselves in JSON or plain text; an HTML
 * page would only be noise.
 */
async function explanationIn(response: IncomingMessage): Promise<string> {
  if (!/^(application\/([\w.-]+\+)?json|text\/plain)/i.test(contentTypeOf(response))) return '';
  try {
    return (await readText(response, longestExplanation)).text.trim();
  } catch {
    // The status says enough.
    return '';
  }
}

function alternativesTo(status: number): readonly string[] {
  if (status === 401 || status === 403 || status === 451)
    return ['Do not repeat it: this page is not open to you. Use another source.'];
  if (status === 404 || status === 410)
    return ['Check the address, or search for where the page is now.', 'Use another source.'];
  if (status === 429 || status >= 500) return ['Try again later.', 'Use another source.'];
  return ['Check the URL.'];
}

/** Returns a URL without its query, which may hold secrets. */
function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
}
