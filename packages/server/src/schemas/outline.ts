import { z } from '@hono/zod-openapi';
import { limitSchema, runnableKinds, seqSchema, timestampSchema } from './common.ts';

const longestPage = 100_000;

export const outlineQuerySchema = z.strictObject({
  after: seqSchema
    .default(0)
    .openapi({ description: 'Place of the last event that is known already.' }),
  limit: limitSchema(longestPage, longestPage),
});

const kinds = [...runnableKinds, 'question', 'sleep'] as const;
const statuses = ['open', 'yielded', 'completed', 'error', 'cancelled', 'transferred'] as const;

/** Members that describe an invocation. */
export const invocationMembers = {
  id: z.string().openapi({ description: 'Its path in the ledger.', example: 'run_1' }),
  parent: z
    .string()
    .optional()
    .openapi({ description: 'The nearest invocation above it; missing for a run.' }),
  kind: z.enum(kinds),
  name: z.string().openapi({ example: 'support' }),
  agent: z
    .string()
    .optional()
    .openapi({ description: 'The nearest agent at or above it.', example: 'support' }),
  status: z.enum(statuses).openapi({ description: '`yielded`: it waits.' }),
  start: z.int().min(1).openapi({ description: '`seq` of its first event.', example: 2 }),
};

const invocationSpanSchema = z
  .strictObject({
    ...invocationMembers,
    end: z.int().min(1).optional().openapi({ description: '`seq` of its end.', example: 12 }),
    startedAt: timestampSchema,
    endedAt: timestampSchema.optional(),
  })
  .openapi('InvocationSpan');

const columnsSchema = z
  .strictObject({
    at: z.array(z.number()).openapi({ description: 'Epoch milliseconds.' }),
    type: z.array(z.int()).openapi({ description: 'Place in `types`.' }),
    invocation: z
      .array(z.int())
      .openapi({ description: 'Place in `invocations`; -1: of none that had begun.' }),
    agent: z.array(z.int()).openapi({ description: 'Place in `agents`; -1: of no agent.' }),
    name: z.array(z.int()).openapi({
      description:
        'Place in `names` of the word that tells it from others of its type: the tool, the ' +
        'component of a decision, the round of a model call; -1: it has none.',
    }),
    start: z.array(z.int()).openapi({
      description:
        '`seq` of the event that it ends: the call of a result, the beginning of a model call, ' +
        'the request of an answer; 0: it ends none.',
    }),
    flags: z.array(z.int()).openapi({
      description: 'Sum of 1: it failed, 2: it opens a request, 4: it answers a request.',
    }),
  })
  .openapi('OutlineColumns', {
    description: 'One entry for each event, the one of `after` + 1 first.',
  });

export const outlineSchema = z
  .strictObject({
    after: z.int().min(0),
    next: z.int().min(0).openapi({
      description: 'The `after` of the next page, also when there is nothing more yet.',
      example: 250,
    }),
    last: z
      .int()
      .min(0)
      .openapi({ description: 'Place of the last event of the session.', example: 250 }),
    types: z.array(z.string()).openapi({ example: ['invocation_start', 'user'] }),
    agents: z.array(z.string()).openapi({ example: ['support'] }),
    names: z.array(z.string()).openapi({ example: ['findOrder'] }),
    invocations: z.array(invocationSpanSchema).openapi({
      description: 'Those that events of the page belong to, as they are now.',
    }),
    columns: columnsSchema,
  })
  .openapi('Outline', {
    description: 'The events of a session without their bodies: enough to draw all of them.',
  });
