import { z } from '@hono/zod-openapi';
import { requestSchema } from './approval.ts';
import { jsonSchema, seqSchema } from './common.ts';
import { eventSchema } from './event.ts';
import { invocationMembers } from './outline.ts';
import { modelUse } from './run.ts';
import { bareStateSchema } from './session.ts';

export const momentQuerySchema = z.strictObject({
  at: seqSchema.optional().openapi({
    description: 'The event after which; 0 is before the first one. Default: the last one.',
  }),
  values: z
    .enum(['references', 'full'])
    .default('references')
    .openapi({
      description:
        'Values of more than 64 KiB: as references, which have their size and their beginning, ' +
        'or as they are.',
    }),
});

const changeSchema = z
  .strictObject({
    scope: z.string().openapi({ example: 'session' }),
    key: z.string(),
    before: jsonSchema.optional().openapi({
      description: 'Value as the writer saw it before; missing when there was none.',
    }),
    after: jsonSchema.optional().openapi({ description: 'Missing when the key was deleted.' }),
    by: z.string().openapi({ description: 'Who wrote it.', example: 'tool:pay' }),
  })
  .openapi('StateChange');

export const momentSchema = z
  .strictObject({
    at: z.int().min(0),
    last: z
      .int()
      .min(0)
      .openapi({ description: 'Place of the last event of the session.', example: 250 }),
    event: eventSchema.optional().openapi({ description: 'Missing before the first event.' }),
    state: bareStateSchema,
    changes: z.array(changeSchema).openapi({ description: 'What the event has written.' }),
    requests: z.array(requestSchema).openapi({ description: 'Those that waited for an answer.' }),
    usage: z.strictObject(modelUse).openapi('UsageSoFar', {
      description: 'Use of models up to the event; what a fork shares is not counted.',
    }),
    invocations: z
      .array(
        z.strictObject(invocationMembers).openapi('ActiveInvocation', {
          description: 'An invocation that had begun and not ended: `open` or `yielded`.',
        }),
      )
      .openapi({ description: 'Those that were open, in the order in which they began.' }),
  })
  .openapi('Moment', {
    description: 'A session right after one of its events: what people look at together.',
  });
