import { z } from '@hono/zod-openapi';

const degradedSchema = z.array(z.enum(['store_full', 'overloaded'])).openapi({
  description:
    '`store_full`: the disk of the store is full, so that writes are refused and reading goes ' +
    'on. `overloaded`: requests are refused until there is room. Both end by themselves.',
});

export const healthSchema = z
  .object({
    status: z.enum(['ok', 'degraded']),
    degraded: degradedSchema,
    version: z.string().openapi({ description: 'Version of @adjutant/server.', example: '0.1.0' }),
    uptime: z
      .number()
      .openapi({ description: 'Seconds since the server was made.', example: 3_600 }),
  })
  .openapi('Health');

export const readinessSchema = z
  .object({
    status: z
      .enum(['ready', 'degraded', 'not_ready'])
      .openapi({ description: '`degraded`: it works, and refuses some requests.' }),
    degraded: degradedSchema,
    store: z.enum(['ok', 'read_only', 'unavailable']).openapi({
      description: 'Whether the store has answered in time; `read_only` while its disk is full.',
    }),
    closing: z.boolean().openapi({ description: 'The server takes no more work.' }),
    deltas: z.enum(['process', 'everywhere']).openapi({
      description:
        'Whom the parts of answers reach that are streamed while a model speaks: followers ' +
        'of the same `process` only, or followers `everywhere`, because the app has a ' +
        'pub/sub that is connected. Durable events always reach all.',
    }),
  })
  .openapi('Readiness');
