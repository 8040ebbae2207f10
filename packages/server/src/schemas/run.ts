import { z } from '@hono/zod-openapi';
import { requestSchema } from './approval.ts';
import {
  idSchema,
  jsonSchema,
  laneSchema,
  limitSchema,
  messageTextSchema,
  nextCursorSchema,
  runIdSchema,
  runnableKinds,
  timestampSchema,
} from './common.ts';

/** Longest message that a run can begin with; the limit of bodies is mostly lower. */
const longestInput = 1_000_000;

const start = {
  agent: idSchema.openapi({
    description: 'What is run, by its name: GET /v1/agents lists what there is.',
    example: 'support',
  }),
  input: messageTextSchema(longestInput)
    .optional()
    .openapi({ description: 'The message that it begins with.', example: 'Where is my order?' }),
  data: jsonSchema.optional().openapi({
    description: 'What it begins with besides; it must fit the input schema of the agent.',
  }),
  id: runIdSchema.optional().openapi({
    description:
      'Names the run. A run that has a name is started once, however often it is asked ' +
      'for. Default: a new one.',
    example: 'run_1',
  }),
  lane: laneSchema.optional(),
};

/** A run in a session whose id is in the path. */
export const newRunOfSessionSchema = z.strictObject(start).openapi('NewRunOfSession');

export const newRunSchema = z
  .strictObject({
    ...start,
    session: idSchema.optional().openapi({
      description: 'The session that it runs in. Default: a new one.',
      example: 'customer-7',
    }),
    user: idSchema
      .optional()
      .openapi({ description: 'Whose session the new one is.', example: 'user-456' }),
  })
  .refine(({ session, user }) => session === undefined || user === undefined, {
    path: ['user'],
    message: 'says whose the new session is, and cannot be given with the id of one that exists',
  })
  .openapi('NewRun');

const linkSchema = z.string().openapi({ example: '/v1/sessions/customer-7' });

/** Accepted run. */
export const startedRunSchema = z
  .strictObject({
    session: idSchema.openapi({ example: 'customer-7' }),
    id: z.string().openapi({
      description: 'The run. When the session had an open one, that: the input is a message to it.',
      example: 'run_1',
    }),
    asked: z.string().openapi({
      description:
        'The id under which it was asked for. The address of the run with this id finds ' +
        'the run that the input goes to, whichever that becomes.',
      example: 'run_1',
    }),
    status: z.literal('accepted'),
    links: z.strictObject({
      run: linkSchema,
      stream: linkSchema,
      cancel: linkSchema,
      session: linkSchema,
      events: linkSchema,
    }),
  })
  .openapi('StartedRun', {
    description:
      'What was asked for is stored: it is carried out in the background, by another ' +
      'process if this one ends.',
  });

export type StartedRun = z.infer<typeof startedRunSchema>;

/** Tokens of calls of models. */
const usageSchema = z
  .strictObject({
    inputTokens: z.int().min(0),
    outputTokens: z.int().min(0),
    cachedInputTokens: z.int().min(0),
    cacheWriteTokens: z.int().min(0),
    reasoningTokens: z.int().min(0),
  })
  .openapi('Usage', {
    example: {
      inputTokens: 1_200,
      outputTokens: 80,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
    },
  });

/** Usage of model calls. */
export const modelUse = {
  calls: z.int().min(0).openapi({ description: 'Calls of models that were answered.' }),
  usage: usageSchema,
  cost: z
    .number()
    .min(0)
    .openapi({ description: 'US dollars of the calls whose price is known.', example: 0.0042 }),
  unpriced: z
    .int()
    .min(0)
    .openapi({ description: 'Calls whose price is not known: they are not in `cost`.' }),
  estimated: z
    .int()
    .min(0)
    .openapi({ description: 'Calls whose tokens were not reported but estimated.' }),
};

const runStatuses = ['accepted', 'running', 'waiting', 'completed', 'error', 'cancelled'] as const;

const outline = {
  id: z.string().openapi({ example: 'run_1' }),
  agent: z.string().openapi({ example: 'support' }),
  kind: z.enum(runnableKinds),
  lane: z.string().optional().openapi({
    description: 'Lane of the session that it runs in; missing for the default lane.',
    example: 'background',
  }),
  status: z.enum(runStatuses).openapi({
    description:
      '`accepted`: it has not begun yet. `waiting`: nothing happens until somebody ' +
      'answers, sends a message or continues it, or the instant comes that it sleeps until.',
  }),
  waitsFor: z
    .enum(['input', 'tool_input', 'sleep', 'pause'])
    .optional()
    .openapi({
      description:
        'What it waits for: a message (`input`), answers to `requests` (`tool_input`), an ' +
        'instant (`sleep`), or to be continued (`pause`).',
    }),
  sleepsUntil: timestampSchema.optional().openapi({
    description: 'When the first of its sleeps ends, while it waits.',
  }),
  error: z
    .looseObject({ code: z.string(), message: z.string() })
    .optional()
    .openapi('RunError', { description: 'Why it failed or was cancelled. Switch on `code`.' }),
  stopReason: z.string().optional().openapi({
    description: 'What made it give less than it was asked for, such as a limit.',
    example: 'round_limit',
  }),
  confidence: z.number().min(0).max(1).optional().openapi({
    description: 'Confidence in the output, when something lowers it.',
    example: 0.4,
  }),
  ...modelUse,
  startedAt: timestampSchema,
  endedAt: timestampSchema.optional(),
};

/** A run in a list. */
export const runOutlineSchema = z.strictObject(outline).openapi('RunOutline');
export type RunOutlineAnswer = z.infer<typeof runOutlineSchema>;

/** One run. */
export const runSchema = z
  .strictObject({
    ...outline,
    session: idSchema,
    agent: outline.agent.optional().openapi({ description: 'Missing while it has not begun.' }),
    kind: outline.kind.optional(),
    startedAt: outline.startedAt.optional(),
    requests: z.array(requestSchema).openapi({ description: 'What it asks of somebody outside.' }),
    output: jsonSchema
      .optional()
      .openapi({ description: 'What it gave; missing while it has not completed.' }),
  })
  .openapi('Run');
export type RunAnswer = z.infer<typeof runSchema>;

export const runPageSchema = z
  .strictObject({ runs: z.array(runOutlineSchema), cursor: nextCursorSchema })
  .openapi('RunPage');

const longestWaitMs = 60_000;

export const runQuerySchema = z.strictObject({
  wait: z.coerce
    .number()
    .int()
    .min(0)
    .max(longestWaitMs)
    .default(0)
    .openapi({
      type: 'integer',
      minimum: 0,
      maximum: longestWaitMs,
      default: 0,
      description:
        'Milliseconds to wait for the run to end or to wait for somebody; then it is ' +
        'answered as it is.',
      example: 30_000,
    }),
});

export const runsQuerySchema = z.strictObject({
  limit: limitSchema(1_000, 100),
  cursor: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER).optional().openapi({
    type: 'integer',
    description: 'Goes on where a page ended: its `cursor`. Default: the newest run.',
  }),
});

export const runIdPathSchema = z.strictObject({
  run: idSchema.openapi({ description: 'Id of the run.', example: 'run_1' }),
});

export const runPathSchema = z.strictObject({
  session: idSchema.openapi({ description: 'Id of the session.', example: 'customer-7' }),
  run: idSchema.openapi({ description: 'Id of the run.', example: 'run_1' }),
});
