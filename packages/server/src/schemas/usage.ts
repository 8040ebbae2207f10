import { z } from '@hono/zod-openapi';
import { cursorSchema, idSchema, limitSchema, nextCursorSchema, timeSchema } from './common.ts';
import { modelUse } from './run.ts';

export const usageQuerySchema = z.strictObject({
  session: idSchema
    .optional()
    .openapi({ description: 'Only this session.', example: 'customer-7' }),
  agent: idSchema
    .optional()
    .openapi({ description: 'Only calls of models that this agent made.', example: 'support' }),
  user: idSchema
    .optional()
    .openapi({ description: 'Only sessions of this user.', example: 'user-456' }),
  from: timeSchema.optional().openapi({
    description: 'Only calls that ended at this time or later: a time, or epoch milliseconds.',
  }),
  to: timeSchema.optional().openapi({ description: 'Only calls that ended before this time.' }),
  limit: limitSchema(500, 50).openapi({ description: 'How many sessions are looked at.' }),
  cursor: cursorSchema.optional(),
});

const ofModelSchema = z
  .strictObject({
    model: z.string().openapi({ example: 'anthropic:claude-sonnet-5' }),
    ...modelUse,
  })
  .openapi('ModelUsage');

const ofSessionSchema = z
  .strictObject({
    session: idSchema,
    user: z.string().optional(),
    models: z.array(ofModelSchema),
    ...modelUse,
  })
  .openapi('SessionUsage');

export const usagePageSchema = z
  .strictObject({
    sessions: z
      .array(ofSessionSchema)
      .openapi({ description: 'Those of the page in which models were called.' }),
    total: z
      .strictObject(modelUse)
      .openapi('TotalUsage', { description: 'The sum of the sessions of this page.' }),
    complete: z.boolean().openapi({
      description:
        'Whether there are neither pages before this one nor behind it: `total` is then ' +
        'that of everything.',
    }),
    cursor: nextCursorSchema,
  })
  .openapi('UsagePage');
export type UsagePage = z.infer<typeof usagePageSchema>;

const measured = {
  durationMs: z
    .number()
    .min(0)
    .openapi({ description: 'Milliseconds of all together: divided by their count, the mean.' }),
  longestMs: z.number().min(0).openapi({ description: 'Milliseconds of the longest one.' }),
};

export const toolUsageSchema = z
  .strictObject({
    tools: z
      .array(
        z
          .strictObject({
            tool: z.string().openapi({ example: 'refund' }),
            calls: z.int().min(0).openapi({
              description: 'Calls that were attempted and have the result that counts.',
            }),
            failed: z.int().min(0).openapi({ description: 'Those of them without success.' }),
            ...measured,
          })
          .openapi('ToolUsage'),
      )
      .openapi({ description: 'By the names of the tools.' }),
    rounds: z
      .array(
        z
          .strictObject({
            agent: z.string().openapi({ example: 'support' }),
            rounds: z.int().min(0).openapi({
              description: 'Rounds in one go, from the call of the model to the end of its tools.',
            }),
            ...measured,
          })
          .openapi('RoundUsage'),
      )
      .openapi({ description: 'By the names of the agents.' }),
    complete: z.boolean().openapi({
      description: 'Whether there are neither pages before this one nor behind it.',
    }),
    cursor: nextCursorSchema,
  })
  .openapi('ToolUsagePage', { description: 'The sum of the sessions of the page.' });
