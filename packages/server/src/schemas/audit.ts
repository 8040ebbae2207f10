import { z } from '@hono/zod-openapi';
import {
  cursorSchema,
  idSchema,
  limitSchema,
  nextCursorSchema,
  timeSchema,
  timestampSchema,
} from './common.ts';

const outcomeSchema = z.enum(['done', 'refused', 'denied', 'failed']).openapi({
  description:
    '`done`; `refused`: it could not be done as asked; `denied`: whoever asked may not; ' +
    '`failed`: it went wrong inside.',
});

const mostEntries = 500;
const usualEntries = 100;

export const auditQuerySchema = z.strictObject({
  from: timeSchema.optional().openapi({ description: 'Entries from then on.' }),
  to: timeSchema.optional().openapi({ description: 'Entries before then.' }),
  action: idSchema.optional().openapi({
    description: 'Only entries of this call, by its `operationId`.',
    example: 'createKey',
  }),
  principal: idSchema
    .optional()
    .openapi({ description: 'Only entries of this caller.', example: 'key:7k3m9q2x8v5c1b4n' }),
  outcome: outcomeSchema.optional(),
  limit: limitSchema(mostEntries, usualEntries),
  cursor: cursorSchema.optional(),
});

const auditEntrySchema = z
  .strictObject({
    at: timestampSchema,
    principal: z.string().openapi({
      description:
        'Who: `key:<id>`, `jwt:<subject>`, `local`, `anonymous` for calls that anybody may ' +
        'make, `unknown` without a valid credential.',
      example: 'key:7k3m9q2x8v5c1b4n',
    }),
    actor: z.string().openapi({
      description: 'How the ledgers of sessions name the caller.',
      example: 'operator:key:7k3m9q2x8v5c1b4n',
    }),
    action: z
      .string()
      .openapi({ description: 'The call, by its `operationId`.', example: 'cancelSession' }),
    route: z.string().openapi({ example: 'POST /v1/sessions/{session}/cancel' }),
    target: z.record(z.string(), z.string()).openapi({
      description: 'What it was about, and where what it made is.',
      example: { session: 'customer-7' },
    }),
    outcome: outcomeSchema,
    status: z.int().openapi({ example: 202 }),
    code: z
      .string()
      .optional()
      .openapi({ description: 'The code of the problem, if there was one.' }),
    requestId: z.string().openapi({ example: 'req_3f6h9k2m5p8r1t4v' }),
    address: z
      .string()
      .optional()
      .openapi({ description: 'Where it came from.', example: '192.0.2.7' }),
    count: z.int().openapi({
      description: 'How many there were: equal denials of a minute are one entry after the first.',
      example: 1,
    }),
  })
  .openapi('AuditEntry');

export const auditPageSchema = z
  .strictObject({ entries: z.array(auditEntrySchema), cursor: nextCursorSchema })
  .openapi('AuditPage', {
    description:
      'Newest first. A page may have fewer entries than were asked for, or none, and a ' +
      'cursor all the same.',
  });
