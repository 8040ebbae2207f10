import { z } from '@hono/zod-openapi';

export const healthSchema = z
  .object({
    status: z.literal('ok'),
    version: z.string().openapi({ description: 'Version of @adjutant/server.', example: '0.1.0' }),
    uptime: z
      .number()
      .openapi({ description: 'Seconds since the server was made.', example: 3_600 }),
  })
  .openapi('Health');

export const readinessSchema = z
  .object({
    status: z.enum(['ready', 'not_ready']),
    store: z
      .enum(['ok', 'unavailable'])
      .openapi({ description: 'Whether the store has answered in time.' }),
    closing: z.boolean().openapi({ description: 'The server takes no more work.' }),
    deltas: z.enum(['process', 'everywhere']).openapi({
      description:
        'Whom the parts of answers reach that are streamed while a model speaks: followers ' +
        'of the same `process` only, or followers `everywhere`, because the app has a ' +
        'pub/sub that is connected. Durable events always reach all.',
    }),
  })
  .openapi('Readiness');
