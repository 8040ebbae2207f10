import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { ServerEnv } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { isAllowed, type Permission, type Principal } from './principal.ts';

/** Requirements of a route for its callers. */
export interface GuardedRoute {
  readonly permission: Permission | 'public';
  /** The call, by the name that the document of the routes has for it. */
  readonly operationId: string;
}

const guarded = new WeakMap<object, GuardedRoute>();

/**
 * Lets only those call a route who may. Runs before the request is looked at: who may not call is
 * not told what a call must be.
 */
export function guard(
  permission: Permission | 'public',
  operationId: string,
): MiddlewareHandler<ServerEnv> {
  const middleware: MiddlewareHandler<ServerEnv> = async (context, next) => {
    if (permission !== 'public' && !isAllowed(context.var.principal, permission)) {
      throw new RequestRefusedError(
        403,
        'forbidden',
        `This needs the permission "${permission}", which none of your roles gives.` +
          hintOf(context.var.principal),
        { permission },
      );
    }
    await next();
  };
  guarded.set(middleware, { permission, operationId });
  return middleware;
}

function hintOf({ roles, user }: Principal): string {
  return roles.includes('user') && user === undefined
    ? ' The role "user" counts only for a credential that is bound to a user.'
    : '';
}

/** Where a request is going. */
export interface Destination {
  /**
   * Requirements of the route; `undefined` for a route that states none, and where there is no
   * route.
   */
  readonly guarded: GuardedRoute | undefined;
  /** The path of the route, with its parameters in braces; `undefined` where there is none. */
  readonly route: string | undefined;
}

/** Finds the route of a request, before it is there. */
export function destinationOf(context: Context<ServerEnv>): Destination {
  const routes = matchedRoutes(context).filter(({ method }) => method !== 'ALL');
  const found = routes.find(({ handler }) => guarded.has(handler)) ?? routes.at(-1);
  return {
    guarded: found === undefined ? undefined : guarded.get(found.handler),
    route: found?.path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, '{$1}'),
  };
}
