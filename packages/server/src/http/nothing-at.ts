import type { Api } from './parts.ts';
import { RequestRefusedError } from './problem.ts';

const methods = ['GET', 'POST', 'DELETE'] as const;

/**
 * Why there is no answer: the address has nothing (404), or nothing for this method (405, which
 * says for which methods it has).
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
