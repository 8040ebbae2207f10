import type { Context, MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { ServerEnv } from '../http/parts.ts';
import type { CorsOptions } from '../options.ts';

/**
 * For answers that no browser is to show, run, frame or keep. A page has its own in the place of
 * these.
 */
const securityHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Two years, as lists of preloaded sites ask for. */
const strictTransport = 'max-age=63072000; includeSubDomains';

/**
 * Headers that keep browsers from doing harm with an answer. Those that a route sets itself stay.
 */
export function secureAnswers({
  trustProxy,
  cors: allowed,
}: {
  readonly trustProxy: number;
  readonly cors: CorsOptions | undefined;
}): MiddlewareHandler<ServerEnv> {
  return async (context, next) => {
    await next();
    const { headers } = context.res;
    for (const [name, value] of Object.entries(securityHeaders))
      if (!headers.has(name)) headers.set(name, value);
    // Pages of other sites may read it if they may call at all.
    if (allowed !== undefined) headers.set('cross-origin-resource-policy', 'cross-origin');
    if (isSecure(context, trustProxy)) headers.set('strict-transport-security', strictTransport);
  };
}

function isSecure({ req }: Context<ServerEnv>, trustProxy: number): boolean {
  const forwarded = trustProxy > 0 ? req.header('x-forwarded-proto') : undefined;
  return forwarded === undefined
    ? new URL(req.url).protocol === 'https:'
    : forwarded.split(',')[0]?.trim() === 'https';
}

const dayInSeconds = 86_400;

/** Lets pages of these origins call. Cookies are never asked for: credentials are in headers. */
export function allowOrigins({ origins }: CorsOptions): MiddlewareHandler<ServerEnv> {
  return cors({
    origin: origins.includes('*') ? '*' : [...origins],
    allowMethods: ['GET', 'POST', 'PATCH', 'DELETE'],
    allowHeaders: [
      'authorization',
      'content-type',
      'idempotency-key',
      'last-event-id',
      'traceparent',
      'tracestate',
    ],
    exposeHeaders: [
      ...['location', 'link', 'retry-after', 'ratelimit', 'ratelimit-policy', 'www-authenticate'],
      ...['idempotency-replayed', 'x-request-id', 'x-vercel-ai-ui-message-stream'],
    ],
    maxAge: dayInSeconds,
  }) as MiddlewareHandler<ServerEnv>;
}
