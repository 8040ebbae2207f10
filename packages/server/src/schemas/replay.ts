import { z } from '@hono/zod-openapi';
import { idSchema, jsonSchema } from './common.ts';

export const replayOptionsSchema = z
  .strictObject({
    until: z.int().min(1).optional().openapi({
      description: 'Place of the last event that is replayed. Default: the last one.',
      example: 12,
    }),
    runSteps: z
      .boolean()
      .optional()
      .openapi({
        description:
          'Runs the bodies of steps that do not say `effects: false`: what they do outside is ' +
          'done again. Needs the permission `operate`. Default: false.',
      }),
  })
  .openapi('ReplayOptions');

const divergenceSchema = z
  .strictObject({
    seq: z.int().min(0).openapi({ description: 'The recorded event that differs.' }),
    path: z.string().openapi({ description: 'Path of the invocation; empty for none.' }),
    kind: z.enum(['prompt', 'arguments', 'control_flow', 'state', 'outcome']),
    subject: z.string().openapi({
      description: 'A sentence that names the difference.',
      example: 'In model call 1 of support: the system prompt changed',
    }),
    recorded: jsonSchema.optional(),
    replayed: jsonSchema.optional(),
    differences: z.array(
      z.strictObject({
        path: z.string(),
        recorded: jsonSchema.optional(),
        replayed: jsonSchema.optional(),
      }),
    ),
  })
  .openapi('Divergence');

export const replaySchema = z
  .strictObject({
    status: z.enum(['same', 'diverged']),
    events: z.int().min(0).openapi({
      description: 'How many events were made again, or served, up to the first divergence.',
    }),
    divergence: divergenceSchema.optional(),
    undeclaredSteps: z.array(z.string()).openapi({
      description: 'Steps whose bodies ran for real and do not say `effects: false`.',
    }),
  })
  .openapi('Replay', {
    description: "Today's code against a recorded session: the first place where it differs.",
  });

export const differenceQuerySchema = z.strictObject({
  with: idSchema.openapi({ description: 'Id of the other session.', example: 'customer-7-again' }),
});

export const differenceSchema = z
  .strictObject({
    shared: z.int().min(0).openapi({
      description: 'Place of the last event that both have: of a fork, the place of the fork.',
    }),
    difference: divergenceSchema
      .extend({
        otherSeq: z.int().min(1).optional().openapi({
          description: 'The event of the other session; missing when it has none there.',
        }),
      })
      .optional()
      .openapi({ description: 'Missing when both do the same.' }),
  })
  .openapi('SessionDifference');

export type ReplayAnswer = z.output<typeof replaySchema>;
export type DifferenceAnswer = z.output<typeof differenceSchema>;
