import type { MiddlewareHandler } from 'hono';
import type { ServerEnv } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { isAllowed, type Permission } from './principal.ts';

/** Lets only those call a route who may. */
export function guard(permission: Permission | 'public'): MiddlewareHandler<ServerEnv> {
  return async (context, next) => {
    if (permission !== 'public' && !isAllowed(context.var.principal, permission)) {
      throw new RequestRefusedError(403, 'forbidden', `This needs the permission "${permission}", which none of your roles gives.`, { permission });
    }
    await next();
  };
}
