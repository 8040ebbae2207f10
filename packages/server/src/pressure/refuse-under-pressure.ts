import type { MiddlewareHandler } from 'hono';
import { destinationOf } from '../access/guard.ts';
import type { ServerEnv, ServerParts } from '../http/parts.ts';
import { storeFull } from '../http/problem.ts';
import { watched } from './watched.ts';

const metricsRoute = '/v1/metrics';
/** They write nothing of the app, and lead to the page on which people see what is wrong. */
const signIns: ReadonlySet<string> = new Set(['/v1/sign-in', '/v1/sign-out']);
const reading: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses requests for which there is no room, before they take any. Those who watch over the
 * process are answered all the same.
 */
export function refuseUnderPressure({
  pressure,
}: Pick<ServerParts, 'pressure'>): MiddlewareHandler<ServerEnv> {
  return async (context, next) => {
    const { route } = destinationOf(context);
    if (route === undefined || watched.has(route) || route === metricsRoute) return next();
    const leave = pressure.enter();
    try {
      const isWrite = !reading.has(context.req.method) && !signIns.has(route);
      if (isWrite && !(await pressure.hasRoom())) throw storeFull();
      await next();
    } finally {
      leave();
    }
  };
}
