import { z } from '@hono/zod-openapi';
import { idSchema, jsonSchema, laneSchema } from './common.ts';

const longestText = 10_000;
/** Paths of calls and of steps grow with the depth of a run. */
const longestPath = 4_096;

const pathSchema = z.string().min(1).max(longestPath);
const textSchema = z.string().min(1).max(longestText);

/** Finding of a person about a call or an effect. */
export const toldOutcomeSchema = z
  .strictObject({
    callId: pathSchema.openapi({
      description:
        'The id of a tool call or an effect, as `tool_result` events and `effect_unknown` errors ' +
        'have it.',
      example: 'run_1/charge',
    }),
    happened: z.boolean().openapi({ description: 'Whether it took place.' }),
    result: jsonSchema.optional().openapi({
      description: 'What it gave; only for what happened. Default: null.',
      example: 'ch_1',
    }),
    failed: textSchema.optional().openapi({
      description:
        'Why it failed for good; only for what did not happen. Default: an effect is tried again.',
      example: 'The card was declined.',
    }),
  })
  .refine(({ happened, result }) => happened || result === undefined, {
    path: ['result'],
    message: 'is for what happened',
  })
  .refine(({ happened, failed }) => !happened || failed === undefined, {
    path: ['failed'],
    message: 'is for what did not happen',
  })
  .openapi('ToldOutcome');

export const recordedOutcomeSchema = z
  .strictObject({
    session: idSchema.openapi({ example: 'customer-7' }),
    callId: z.string().openapi({ example: 'run_1/charge' }),
    status: z.literal('recorded'),
  })
  .openapi('RecordedOutcome');

/** A run that is opened again. */
export const reopeningSchema = z
  .strictObject({
    reason: textSchema.openapi({
      description: 'For the ledger.',
      example: 'The provider was asked.',
    }),
    path: pathSchema.optional().openapi({
      description:
        'The part of the run that is opened, with what is around it. Default: the last run, with ' +
        'every part of it that failed.',
      example: 'run_1/publish',
    }),
    lane: laneSchema.optional(),
  })
  .openapi('Reopening');

export const reopenedSchema = z
  .strictObject({
    session: idSchema.openapi({ example: 'customer-7' }),
    status: z.literal('reopened'),
  })
  .openapi('Reopened');
