import { z } from '@hono/zod-openapi';
import { idSchema, jsonSchema } from './common.ts';
import { eventSchema } from './event.ts';

const mostFields = 100;

const fieldSchema = z
  .string()
  .max(200)
  .refine(
    (field) => field.split('.').every((part) => part.trim() !== ''),
    'must be the name of a key, or a path such as customer.email',
  );

export const exportQuerySchema = z.strictObject({
  redact: z
    .union([fieldSchema.transform((one) => [one]), z.array(fieldSchema).max(mostFields)])
    .default([])
    .openapi({
      description:
        'A key, or the end of its path such as `customer.email`, whose values are taken out ' +
        'besides secrets. Give it once for each.',
      type: 'array',
      items: { type: 'string' },
      example: ['email', 'customer.name'],
    }),
});

export const ledgerFileSchema = z
  .strictObject({
    format: z.literal('adjutant-ledger'),
    version: z.int().min(1),
    app: z.string(),
    tenant: z.string(),
    session: idSchema,
    redaction: z.strictObject({
      fields: z.array(z.string()),
      patterns: z.array(z.strictObject({ source: z.string(), flags: z.string() })),
      replacements: z.array(z.union([z.string(), z.number()])),
      removed: z
        .record(z.string(), z.int())
        .openapi({ description: 'How many different values each rule took out.' }),
    }),
    blobs: z.record(z.string(), jsonSchema).openapi({
      description: 'Values of more than 64 KiB that the events refer to, by address.',
    }),
    events: z.array(eventSchema),
  })
  .openapi('LedgerFile', { description: 'A ledger by itself, without its secrets.' });
