import { z } from '@hono/zod-openapi';
import { storedEventTypes } from 'adjutant/views';
import { idSchema, limitSchema, seqSchema, timeSchema } from './common.ts';

const longestText = 1_000;

export const eventSchema = z
  .looseObject({
    seq: z.int().min(1).openapi({ description: 'Place in the ledger, without gaps.', example: 1 }),
    type: z.string().openapi({ example: 'user' }),
  })
  .openapi('Event', {
    description:
      'An entry of a ledger. What else it has depends on its type: ' +
      'docs/reference/events.md. An entry that this version cannot read has the type ' +
      '`unreadable` and a `reason`.',
  });

export const eventQuerySchema = z.strictObject({
  after: seqSchema
    .default(0)
    .openapi({ description: 'Place of the last event that is known already.' }),
  limit: limitSchema(1_000, 100),
  values: z
    .enum(['references', 'full'])
    .default('references')
    .openapi({
      description:
        'Values of more than 64 KiB: as references, which have their size and their ' +
        'beginning, or as they are. A page ends before its limit when it has become long (4 ' +
        'MiB).',
    }),
  type: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(storedEventTypes)))
    .optional()
    .openapi({
      type: 'string',
      description: 'Only events of these types, with commas between them.',
      example: 'decision,error',
    }),
  agent: idSchema.optional().openapi({
    description: 'Only events of this agent: it acted, or is the nearest one around the event.',
    example: 'support',
  }),
  from: timeSchema.optional().openapi({
    description: 'Only events of this time or later: a time, or epoch milliseconds.',
  }),
  to: timeSchema.optional().openapi({ description: 'Only events before this time.' }),
  text: z
    .string()
    .min(1)
    .max(longestText)
    .optional()
    .openapi({
      description:
        'Only events whose JSON text has this in it, in upper or lower case. Large values are ' +
        'not looked at.',
      example: 'refund',
    }),
});

export const eventPageSchema = z
  .strictObject({
    events: z.array(eventSchema),
    next: z.int().min(0).openapi({
      description: 'The `after` of the next page, also when there is nothing more yet.',
      example: 100,
    }),
    last: z
      .int()
      .min(0)
      .openapi({ description: 'Place of the last event of the session.', example: 250 }),
  })
  .openapi('EventPage');

const place = { seq: z.int().min(1) };
const speech = { ...place, agent: z.string(), text: z.string() };

const transcriptEntrySchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('user'), ...place, text: z.string() }),
    z.strictObject({ kind: z.literal('assistant'), ...speech }),
    z.strictObject({ kind: z.literal('thought'), ...speech }),
    z.strictObject({
      kind: z.literal('tool'),
      ...place,
      agent: z.string(),
      name: z.string(),
      args: z.unknown(),
      editedArgs: z
        .unknown()
        .optional()
        .openapi({ description: 'What a person put in the place of the arguments.' }),
      result: z
        .looseObject({ status: z.string() })
        .optional()
        .openapi({ description: 'Missing while the call has none.' }),
      success: z.boolean(),
      durationMs: z.number().optional(),
      version: z.string().optional().openapi({ description: 'Version of the tool that ran.' }),
    }),
    z.strictObject({
      kind: z.literal('end'),
      ...place,
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
    }),
  ])
  .openapi('TranscriptEntry');

export const transcriptSchema = z
  .strictObject({ entries: z.array(transcriptEntrySchema) })
  .openapi('Transcript', {
    description:
      'A session as a conversation: messages, thoughts, tool calls with their results, and ' +
      'runs that did not end well.',
  });
