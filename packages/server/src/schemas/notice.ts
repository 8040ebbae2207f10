import { z } from '@hono/zod-openapi';
import {
  cursorSchema,
  idSchema,
  limitSchema,
  nextCursorSchema,
  timestampSchema,
} from './common.ts';

const longestText = 10_000;
const longestLabel = 200;
const longestAddress = 2_000;
const mostActions = 10;
const mostChannels = 20;
const mostOnPage = 500;
const usualOnPage = 50;

const aboutSchema = z.strictObject({
  session: idSchema,
  run: idSchema.optional(),
  request: idSchema.optional(),
});

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
    about: aboutSchema.optional().openapi({
      description: 'Its subject. It is not sent when that is settled or gone by then.',
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

export const noticesQuerySchema = z.strictObject({
  user: idSchema.optional().openapi({
    description: 'User whose notices they are. Default: that of the credential.',
    example: 'user-456',
  }),
  limit: limitSchema(mostOnPage, usualOnPage),
  cursor: cursorSchema.optional(),
});

const attemptSchema = z
  .strictObject({
    channel: z.string().openapi({ example: 'email' }),
    at: timestampSchema,
    outcome: z.enum(['open', 'sent', 'failed', 'unknown']).openapi({
      description:
        '`open`: it goes on, or its process ended during it. `unknown`: it failed, and the ' +
        'notice may have been sent all the same.',
    }),
    error: z.string().optional().openapi({ description: 'Why it failed.' }),
  })
  .openapi('NoticeAttempt');

const noticeSchema = z
  .strictObject({
    id: z.string().openapi({ example: 'report-17' }),
    user: z.string().openapi({ example: 'user-456' }),
    title: z.string().openapi({ example: 'The report is ready' }),
    text: z.string(),
    actions: z.array(z.strictObject({ label: z.string(), url: z.string() })).optional(),
    about: aboutSchema.optional(),
    channels: z.array(z.string()).optional(),
    urgent: z.boolean().optional(),
    expiresAt: timestampSchema.optional(),
    at: timestampSchema.openapi({ description: 'Epoch milliseconds at which it came in.' }),
    status: z.enum(['waiting', 'sending', 'sent', 'dropped']).openapi({
      description: '`sending`: an attempt has begun, and it is neither sent nor dropped.',
    }),
    settledAt: timestampSchema.optional().openapi({
      description: 'Epoch milliseconds at which it was sent or dropped.',
    }),
    reason: z.string().optional().openapi({
      description: 'Why it was dropped.',
      example: 'request_settled',
    }),
    attempts: z.array(attemptSchema),
  })
  .openapi('Notice');
export type NoticeAnswer = z.output<typeof noticeSchema>;

export const noticePageSchema = z
  .strictObject({ notices: z.array(noticeSchema), cursor: nextCursorSchema })
  .openapi('NoticePage', { description: 'Newest first.' });
