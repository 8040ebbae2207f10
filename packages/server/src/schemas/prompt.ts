import { z } from '@hono/zod-openapi';
import { idSchema } from './common.ts';

/** Digits of a `seq`: fewer than those of the largest whole number that is exact. */
const mostDigits = 15;

/** The session and the model call in a path. */
export const promptPathSchema = z.strictObject({
  session: idSchema.openapi({ description: 'Id of the session.', example: 'customer-7' }),
  // Digits alone: a number may be written with spaces, line breaks and signs around it.
  seq: z
    .string()
    .max(mostDigits)
    .regex(/^[1-9][0-9]*$/)
    .transform(Number)
    .openapi({
      type: 'string',
      pattern: '^[1-9][0-9]*$',
      maxLength: mostDigits,
      description: 'Place of the `model_start` of the call.',
      example: '4',
    }),
});

const rangesSchema = z.array(z.tuple([z.int(), z.int()])).openapi({
  description: 'First and last of neighbouring places.',
});

const sectionNameSchema = z
  .enum([
    ...(['instructions', 'environment', 'tools', 'injected', 'memory', 'summary'] as const),
    ...(['notes', 'history', 'message', 'settings'] as const),
  ])
  .openapi('PromptSectionName', {
    description:
      'What a section was made of: the instructions; time and capabilities; the tools; messages ' +
      'that renderers added; facts; the summary of what was left out; notes of the runtime; the ' +
      'ledger; the message that is answered; all other settings of the call.',
  });

const messageSchema = z
  .looseObject({ role: z.string() })
  .openapi('PromptMessage', { description: 'A message as the provider receives it.' });
const toolSchema = z.looseObject({ type: z.string(), name: z.string() });
const settingsSchema = z.record(z.string(), z.unknown());

const sectionSchema = z
  .strictObject({
    name: sectionNameSchema,
    title: z.string(),
    tokens: z.int().min(0).openapi({ description: 'Estimated, as for budgets.' }),
    share: z
      .number()
      .min(0)
      .max(1)
      .openapi({ description: 'Part of the tokens of the prompt, from 0 to 1.' }),
    at: rangesSchema.optional().openapi({
      description: 'Places of its messages in the prompt, from 0, as ranges.',
    }),
    messages: z.array(messageSchema).optional(),
    tools: z.array(toolSchema).optional(),
    settings: settingsSchema.optional(),
  })
  .openapi('PromptSection', {
    description: 'A part of a prompt. It has `messages`, `tools` or `settings`.',
  });

const changeSchema = z
  .strictObject({
    section: sectionNameSchema,
    title: z.string(),
    kind: z.enum(['same', 'grown', 'shrunk', 'changed', 'new', 'gone']),
    tokens: z.strictObject({ before: z.int().min(0), after: z.int().min(0) }),
    keep: z.int().min(0).openapi({ description: 'How many items at its beginning stayed.' }),
    removed: z
      .array(z.looseObject({}))
      .optional()
      .openapi({ description: 'Messages, tools or settings behind them that went.' }),
    added: z
      .array(z.looseObject({}))
      .optional()
      .openapi({ description: 'What came in their place; the others follow.' }),
    at: rangesSchema.optional(),
  })
  .openapi('PromptSectionChange', {
    description: 'The change of a section since the call before.',
  });

export const promptSchema = z
  .strictObject({
    seq: z.int().min(1),
    invocationId: z.string(),
    agent: z.string(),
    model: z.string().openapi({ example: 'openai:gpt-5-mini' }),
    round: z.int().min(1),
    attempt: z.int().min(1),
    tokens: z.int().min(0).openapi({ description: 'Estimated tokens of all sections.' }),
    reported: z
      .int()
      .min(0)
      .optional()
      .openapi({ description: 'Input tokens that the provider reported for this call.' }),
    window: z
      .int()
      .min(1)
      .optional()
      .openapi({
        description:
          'Tokens that prompt and answer may have together. Missing when no agent of the app has ' +
          'this model any more.',
      }),
    sections: z.array(sectionSchema),
    dropped: z
      .strictObject({
        events: rangesSchema,
        compactions: z.array(z.int().min(1)),
      })
      .optional()
      .openapi({
        description:
          'Events that compactions or renderers have left out, as ranges of `seq`, and the ' +
          'places of these compactions.',
      }),
    previous: z
      .strictObject({ seq: z.int().min(1), diff: z.array(changeSchema) })
      .optional()
      .openapi({ description: 'The call of the same agent before, and what changed since.' }),
    call: z
      .looseObject({ prompt: z.array(messageSchema) })
      .openapi({ description: 'The call as the model received it, without secrets.' }),
  })
  .openapi('Prompt', { description: 'The prompt of a model call, in sections.' });

export type PromptAnswer = z.output<typeof promptSchema>;
