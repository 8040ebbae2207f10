import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Api, ServerEnv, ServerParts } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { page } from '../pages/page.ts';
import { basePath } from './base-path.ts';
import { type PageFile, PageFiles } from './files.ts';

/** Parts of the page: each answers all addresses below it. */
const views = [
  ...['now', 'sessions', 'compare', 'approvals', 'tasks', 'triggers', 'plans', 'teams', 'agents'],
  ...['memory', 'evals', 'health', 'keys', 'audit', 'usage', 'notices', 'sign-in'],
] as const;

/** The page runs and shows only what comes from this server, and is shown in no other page. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'self'",
  // Without its scripts a form would send what was typed in the address.
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-robots-tag': 'noindex, nofollow',
};
const revalidated = 'no-cache';
const immutable = 'public, max-age=31536000, immutable';
/** Seconds after which a page that is not built yet is asked for again. */
const reloadSeconds = '2';

/**
 * Serves the dashboard to everybody who asks: it holds no data, and asks for them as its visitor.
 * Added before callers are checked.
 */
export function addDashboard(api: Api, { options }: Pick<ServerParts, 'options'>): void {
  const { dashboard, publicUrl } = options;
  if (dashboard === undefined) return;
  const files = new PageFiles(dashboard.folder);
  const base = basePath(publicUrl);
  const showPage = async (context: Context<ServerEnv>): Promise<Response> => {
    const index = await files.index(base);
    return index === undefined ? beingBuilt(base) : answer(context, index, revalidated);
  };
  api.get('/', showPage);
  for (const view of views) {
    api.get(`/${view}`, showPage);
    api.get(`/${view}/*`, showPage);
  }
  api.get('/assets/:file', async (context) =>
    answer(context, await files.asset(context.req.param('file')), immutable),
  );
  api.get('/:file{[^/]+\\.(?:svg|png|ico|txt|webmanifest)}', async (context) =>
    answer(context, await files.beside(context.req.param('file')), revalidated),
  );
}

/** @throws RequestRefusedError `route_not_found` (404) */
function answer(
  context: Context<ServerEnv>,
  file: PageFile | undefined,
  cacheControl: string,
): Response {
  const { req } = context;
  if (file === undefined)
    throw new RequestRefusedError(
      404,
      'route_not_found',
      'The dashboard has no such file. Load its page anew: it may have been built again.',
    );
  const { bytes, compressed, type, etag } = file;
  const headers = { ...pageHeaders, 'cache-control': cacheControl, etag, vary: 'accept-encoding' };
  if (req.header('if-none-match')?.includes(etag))
    return new Response(null, { status: 304, headers });
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:[^.]|$))/.test(req.header('accept-encoding') ?? '');
  return takesGzip && compressed !== undefined
    ? new Response(compressed, {
        headers: { ...headers, 'content-type': type, 'content-encoding': 'gzip' },
      })
    : new Response(bytes, { headers: { ...headers, 'content-type': type } });
}

/** A page that comes again by itself until the dashboard is there. */
function beingBuilt(base: string): Promise<Response> {
  return page(
    503,
    'The dashboard is being built',
    html`<h1>The dashboard is being built</h1>
<p>This is done once and takes about a minute. This page then shows it by itself.</p>
<p>The server already answers at <a href="${base}v1/openapi.json">${base}v1</a>. If the page
does not come, the terminal of the server says why.</p>`,
    { refresh: reloadSeconds, 'retry-after': reloadSeconds },
  );
}
