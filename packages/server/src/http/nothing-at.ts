import type { Api } from './parts.ts';
import { RequestRefusedError } from './problem.ts';

const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

/**
 * Returns the refusal for an address without a route (404) or without this method (405, with the
 * methods that it has).
 */
export function nothingAt(
  api: Api,
  { method, path }: { readonly method: string; readonly path: string },
): RequestRefusedError {
  const allowed = methods.filter((candidate) => hasRoute(api, candidate, path));
  if (allowed.length > 0) {
    const allow = allowed.join(', ');
    const message = `${path} takes ${allow}, and not ${method}.`;
    return new RequestRefusedError(
      405,
      'method_not_allowed',
      message,
      { allow: allowed },
      { allow },
    );
  }
  return new RequestRefusedError(
    404,
    'route_not_found',
    `There is nothing at ${path}. GET /v1/openapi.json lists what there is.`,
  );
}

/** Middleware that lies around everything is no route. */
function hasRoute(api: Api, method: string, path: string): boolean {
  const [handlers] = api.router.match(method, path);
  return handlers.some(([[, route]]) => route.method === method);
}
