import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { ServerEnv, ServerParts } from '../http/parts.ts';

/** Counts every request under the pattern of its route. */
export function measure({
  metrics,
  clock,
}: Pick<ServerParts, 'metrics' | 'clock'>): MiddlewareHandler<ServerEnv> {
  return async (context, next) => {
    const began = clock.monotonic();
    await next();
    const { method } = context.req;
    metrics.requestServed({
      // Methods that clients make up must not become labels without end.
      method: knownMethods.has(method) ? method : 'OTHER',
      route: patternOf(routePath(context, -1)),
      status: context.res.status,
      duration: clock.monotonic() - began,
    });
  };
}

const knownMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'DELETE',
  'OPTIONS',
  'PUT',
  'PATCH',
]);

/**
 * `/v1/sessions/:session` → `/v1/sessions/{session}`, as the OpenAPI document has it; `none` for
 * what no route answers.
 */
function patternOf(path: string): string {
  return path.includes('*') ? 'none' : path.replaceAll(/:([A-Za-z_]\w*)(\{[^}]*\})?/g, '{$1}');
}
