import type { AddRoutes, Api, ServerParts } from '../http/parts.ts';
import { addRoute } from '../http/route.ts';
import { storeCheck } from '../http/store-check.ts';
import { healthSchema, readinessSchema } from '../schemas/health.ts';
import { packageVersion } from '../version.ts';

const tag = 'Health';
const noStore = { 'cache-control': 'no-store' };

/**
 * Adds the routes that tell if the process lives and can work. They are public and show nothing
 * secret.
 */
export const addHealthRoutes: AddRoutes = (api, parts) => {
  addHealth(api, parts);
  addReadiness(api, parts);
};

function addHealth(api: Api, { clock, pressure }: ServerParts): void {
  const began = clock.monotonic();
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/health',
      permission: 'public',
      operationId: 'getHealth',
      tag,
      summary: 'Whether the process lives',
      description: 'Restart it when this is not answered.',
      answers: { 200: { description: 'It lives.', schema: healthSchema } },
    },
    () => {
      const uptime = Math.floor((clock.monotonic() - began) / 1_000);
      const degraded = [...pressure.degradations()];
      const status = degraded.length === 0 ? 'ok' : 'degraded';
      return {
        status: 200,
        body: { status, degraded, version: packageVersion, uptime },
        headers: noStore,
      };
    },
  );
}

function addReadiness(api: Api, { app, clock, closing, pressure }: ServerParts): void {
  const isStoreWell = storeCheck(app, clock);
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/ready',
      permission: 'public',
      operationId: 'getReadiness',
      tag,
      summary: 'Whether the process can work',
      description: 'Send requests elsewhere while this is not 200.',
      answers: {
        200: { description: 'It can.', schema: readinessSchema },
        503: {
          description: 'It cannot: the store does not answer, or the server closes.',
          schema: readinessSchema,
        },
      },
    },
    async () => {
      const isWell = await isStoreWell();
      const hasRoom = await pressure.hasRoom();
      const degraded = [...pressure.degradations()];
      const isReady = isWell && !closing.aborted;
      return {
        status: isReady ? 200 : 503,
        body: {
          status: !isReady ? 'not_ready' : degraded.length === 0 ? 'ready' : 'degraded',
          degraded,
          store: !isWell ? 'unavailable' : hasRoom ? 'ok' : 'read_only',
          closing: closing.aborted,
          deltas: app.streams.reach,
        },
        headers: noStore,
      };
    },
  );
}
