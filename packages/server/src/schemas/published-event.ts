import { z } from '@hono/zod-openapi';
import { idSchema, jsonSchema } from './common.ts';

const longestType = 1_000;
const longestId = 200;

/** An event that is published. */
export const newPublishedEventSchema = z
  .strictObject({
    type: z.string().max(longestType).openapi({
      description: 'Names with full stops between them, from the general to the special.',
      example: 'mail.received',
    }),
    source: idSchema.optional().openapi({
      description: 'Part of the system that it comes from. Default: the app.',
      example: 'imap',
    }),
    data: jsonSchema
      .optional()
      .openapi({ description: 'At most 65,536 bytes of JSON. Default: null.' }),
    id: idSchema
      .max(longestId)
      .optional()
      .openapi({
        description:
          'The same one again is the same event. Default: made of the `Idempotency-Key`, else a ' +
          'new one.',
        example: 'mail-17',
      }),
  })
  .openapi('NewPublishedEvent');

export const publishedEventSchema = z
  .strictObject({ id: z.string().openapi({ example: 'mail-17' }) })
  .openapi('PublishedEvent', { description: 'It is stored.' });
