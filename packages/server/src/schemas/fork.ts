import { z } from '@hono/zod-openapi';
import { idSchema, jsonSchema, newIdSchema } from './common.ts';

const keySchema = z.string().min(1).max(1_000);

const stateEditSchema = z
  .strictObject({
    scope: z.string().min(1).max(256).optional().openapi({
      description: 'Scope of the key. Default: session.',
      example: 'user',
    }),
    key: keySchema.openapi({ example: 'mood' }),
    value: jsonSchema.optional().openapi({ description: 'The value. Left out with `delete`.' }),
    delete: z.literal(true).optional().openapi({ description: 'Deletes the key.' }),
  })
  .refine((edit) => ('value' in edit && edit.value !== undefined) !== (edit.delete === true), {
    message: 'needs either a `value` or `delete: true`',
  })
  .openapi('StateEdit');

const promptEditSchema = z
  .strictObject({
    agent: idSchema.optional().openapi({
      description: 'Agent whose instructions are edited. Default: the one that acted last.',
      example: 'support',
    }),
    instructions: z.string().min(1).max(65_536).optional().openapi({
      description: 'Stands in the place of the instructions of the agent, in the whole fork.',
    }),
    message: z
      .string()
      .min(1)
      .max(65_536)
      .optional()
      .openapi({
        description:
          'Stands in the place of the last message of the user in prompts. Its run must not have ' +
          'ended at the place of the fork.',
      }),
  })
  .openapi('PromptEdit');

const editSchema = z
  .strictObject({
    state: z.array(stateEditSchema).max(100).optional(),
    prompt: promptEditSchema.optional(),
  })
  .openapi('ForkEdit', {
    description:
      'Changes with which the fork begins, recorded in it. A value or text has at most 64 KiB. ' +
      'Callers that are bound to a user can edit the message only.',
  });

export const newForkSchema = z
  .strictObject({
    at: z
      .int()
      .min(0)
      .optional()
      .openapi({
        description:
          'Place of the last event that the fork shares. Inside an answer of a model, the ' +
          'end of that answer. Default: the last one.',
        example: 12,
      }),
    id: newIdSchema.optional().openapi({
      description: 'Default: a new one. Not for callers that are bound to a user.',
      example: 'customer-7-again',
    }),
    shared: z
      .enum(['isolated', 'live'])
      .optional()
      .openapi({
        description:
          'What becomes of shared scopes. `isolated`: the fork keeps what it writes to them ' +
          'to itself. `live`: it takes part in them. Default: isolated.',
      }),
    edit: editSchema.optional(),
  })
  .openapi('NewFork');

export type NewForkBody = z.output<typeof newForkSchema>;
