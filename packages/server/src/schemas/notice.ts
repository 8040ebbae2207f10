import { z } from '@hono/zod-openapi';
import { idSchema, timestampSchema } from './common.ts';

const longestText = 10_000;
const longestLabel = 200;
const longestAddress = 2_000;
const mostActions = 10;
const mostChannels = 20;

/** A notice to be sent. */
export const newNoticeSchema = z
  .strictObject({
    user: idSchema.openapi({ description: 'User who is told.', example: 'user-456' }),
    title: z.string().min(1).max(longestText).openapi({
      description: 'One line.',
      example: 'The report is ready',
    }),
    text: z.string().max(longestText).optional(),
    actions: z
      .array(
        z.strictObject({
          label: z.string().min(1).max(longestLabel),
          url: z.url({ protocol: /^https?$/ }).max(longestAddress),
        }),
      )
      .max(mostActions)
      .optional()
      .openapi({ description: 'Links that it offers.' }),
    about: z
      .strictObject({ session: idSchema, run: idSchema.optional(), request: idSchema.optional() })
      .optional()
      .openapi({
        description: 'What it is about. It is not sent when that is settled or gone by then.',
      }),
    channels: z.array(idSchema).max(mostChannels).optional().openapi({
      description: 'Names of channels, in the order of attempts. Default: all of the app.',
    }),
    urgent: z.boolean().optional().openapi({
      description: 'True for a notice that is sent in quiet hours too. Default: false.',
    }),
    expiresAt: timestampSchema.optional().openapi({
      description: 'Epoch milliseconds after which it is not sent any more. Default: never.',
    }),
    id: idSchema.optional().openapi({
      description:
        'The same one again is the same notice. Default: made of the `Idempotency-Key`, else a ' +
        'new one.',
      example: 'report-17',
    }),
  })
  .openapi('NewNotice');

export const storedNoticeSchema = z
  .strictObject({ id: z.string().openapi({ example: 'report-17' }) })
  .openapi('StoredNotice', { description: 'It is stored, and sent when the user allows it.' });
