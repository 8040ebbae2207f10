import type { AddRoutes } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { addRoute } from '../http/route.ts';

/** Adds the route of the metrics for Prometheus. */
export const addMetricsRoutes: AddRoutes = (api, parts) => {
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/metrics',
      permission: 'read',
      operationId: 'getMetrics',
      tag: 'Health',
      summary: 'Metrics of the process, as Prometheus reads them',
      description:
        'They are of all sessions, so callers that are bound to a user, to agents or to ' +
        "another tenant than the server's own may not read them.",
      answers: { 200: { description: 'The metrics.', contentType: 'text/plain' } },
    },
    async ({ principal }) => {
      const { user, agents, tenant } = principal;
      if (user !== undefined || agents !== undefined || tenant !== parts.app.tenant) {
        throw new RequestRefusedError(
          403,
          'forbidden',
          "Metrics are of the whole process. They need a key of the server's own tenant " +
            'that is not bound to a user or to agents.',
        );
      }
      return new Response(await parts.metrics.text(), {
        headers: { 'content-type': parts.metrics.contentType, 'cache-control': 'no-store' },
      });
    },
  );
};
