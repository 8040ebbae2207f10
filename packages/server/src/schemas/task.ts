import { z } from '@hono/zod-openapi';
import { taskPriorities, taskStates } from 'adjutant/scheduler';
import { idSchema, jsonSchema, limitSchema, messageTextSchema, timestampSchema } from './common.ts';
import { reasonSchema } from './session.ts';

/** Longest message that a task can begin with; the limit of bodies is mostly lower. */
const longestInput = 1_000_000;
const longestDescription = 10_000;
const mostMs = 31_536_000_000;
const mostCount = 1_000_000;

const prioritySchema = z.enum(taskPriorities).openapi({
  description: 'Tasks of an earlier one go first; each 300 seconds of waiting count as one step.',
});
const stateSchema = z.enum(taskStates).openapi({
  description:
    '`queued`: it waits for its turn. `waiting`: it waits for a person, an instant or another ' +
    'system. `suspended`: until it is resumed. `timeout`: its hard deadline has ended it.',
});
const durationSchema = z.number().min(0).max(mostMs);
const positiveSchema = z.number().gt(0).max(mostMs);

const deadlineSchema = z.strictObject({
  softMs: positiveSchema.optional().openapi({
    description: 'From then on the model is told, once, to come to an end. Default: none.',
    example: 30_000,
  }),
  hardMs: positiveSchema.optional().openapi({
    description: 'Then `action` is done. Default: none.',
    example: 120_000,
  }),
  action: z
    .enum(['discard', 'partial', 'fallback', 'retry', 'retry_when_idle'])
    .optional()
    .openapi({
      description:
        '`discard`: the task ends with the state `timeout`. `partial`: with its last text as the ' +
        'result. `fallback`: with the text `fallback`. `retry`: it goes on later. ' +
        '`retry_when_idle`: with the priority `background`. Default: `discard`.',
      example: 'partial',
    }),
  fallback: z.string().min(1).max(longestDescription).optional().openapi({
    description: 'Result of a task with the action `fallback`, which needs it.',
  }),
  retryAfterMs: positiveSchema.optional().openapi({
    description: 'When a task with the action `retry` goes on. Default: 600,000.',
  }),
  attempts: z.int().min(1).max(mostCount).optional().openapi({
    description: 'Hard deadlines of a task that is retried. Default: 3.',
  }),
});

const concurrencyKeySchema = z.union([
  idSchema,
  z.strictObject({
    name: idSchema,
    limit: z.int().min(1).max(mostCount),
    hold: z.enum(['turn', 'task']).optional(),
  }),
]);

const rateSchema = z.strictObject({
  name: idSchema,
  limit: z.number().gt(0).max(mostCount),
  perMs: positiveSchema,
});

/** A task that is submitted. */
export const newTaskSchema = z
  .strictObject({
    agent: idSchema.openapi({
      description: 'Name of the runnable: GET /v1/agents lists what there is.',
      example: 'support',
    }),
    input: messageTextSchema(longestInput)
      .optional()
      .openapi({ description: 'The message that it begins with.', example: 'Write the report.' }),
    data: jsonSchema.optional().openapi({
      description: 'What it begins with besides; it must fit the input schema of the agent.',
    }),
    name: idSchema.optional().openapi({
      description: 'Name for people. Default: the name of the agent.',
      example: 'Weekly report',
    }),
    description: z.string().max(longestDescription).optional(),
    priority: prioritySchema.optional().openapi({ description: 'Default: by `source`.' }),
    queue: idSchema.optional().openapi({
      description: 'Queue; only workers that serve it carry the task out. Default: `default`.',
      example: 'default',
    }),
    source: idSchema.optional().openapi({
      description: 'Cause of the task, such as `voice`, `text`, `cron` or `trigger`.',
      example: 'text',
    }),
    requester: idSchema.optional().openapi({
      description:
        'User on whose behalf it runs. Default: the user of the credential, else `system`.',
      example: 'user-456',
    }),
    session: idSchema.optional().openapi({
      description:
        'Id of a session that is there and in reach. Its tasks run one after the other, in the ' +
        'order of their submission. Default: a session of its own.',
      example: 'ann',
    }),
    deadline: deadlineSchema.optional().openapi({
      description: 'Milliseconds of waiting in the queue and of work. Default: none.',
    }),
    notBefore: timestampSchema.optional().openapi({
      description: 'Epoch milliseconds before which it does not begin. Default: at once.',
    }),
    delayMs: durationSchema.optional().openapi({
      description: 'Milliseconds before which it does not begin. Default: 0.',
      example: 60_000,
    }),
    concurrencyKey: concurrencyKeySchema.optional().openapi({
      description: 'Key of which only one task, or `limit` tasks, run at the same time.',
    }),
    rate: rateSchema.optional().openapi({
      description: 'Key of which only `limit` tasks begin in `perMs` milliseconds.',
    }),
    coalesceKey: z
      .union([idSchema, z.literal(true)])
      .optional()
      .openapi({
        description:
          'Key of what is asked for: a task of the same requester with this key that has not ' +
          'begun stands for this one too. `true` makes it of the name and the input.',
      }),
    key: idSchema.optional().openapi({
      description:
        'Name of the submission: the same one of the same requester is the same task. Default: ' +
        'made of the `Idempotency-Key`, else a new one.',
      example: 'report-2026-01',
    }),
    model: idSchema.optional().openapi({
      description: "Name of the model that answers in the place of the agent's own.",
      example: 'openai:gpt-5-mini',
    }),
    maxRounds: z.int().min(1).max(mostCount).optional().openapi({
      description: 'Answered model calls that it may have.',
    }),
    estimateMs: positiveSchema.optional().openapi({
      description: 'Expected duration, by which the share of the requester is charged.',
    }),
  })
  .openapi('NewTask');

const task = {
  id: z
    .string()
    .openapi({ description: 'Id of the task and of its run.', example: '0f3c9a5b7d1e' }),
  session: z.string().openapi({ example: 'task-0f3c9a5b7d1e' }),
  name: z.string().openapi({ description: 'Name for people.', example: 'Weekly report' }),
  description: z.string().optional(),
  agent: z.string().openapi({ description: 'Name of the runnable.', example: 'support' }),
  priority: prioritySchema,
  state: stateSchema,
  queue: z.string().openapi({ example: 'default' }),
  source: z.string().optional().openapi({ example: 'text' }),
  requester: z.string().openapi({
    description: 'User on whose behalf it runs, or `system`.',
    example: 'user-456',
  }),
  submittedAt: timestampSchema,
  startedAt: timestampSchema.optional(),
  completedAt: timestampSchema.optional(),
  softDeadlineAt: timestampSchema.optional(),
  hardDeadlineAt: timestampSchema.optional(),
  notBefore: timestampSchema.optional(),
  attempts: z.int().min(0).openapi({ description: 'Executions as a whole.', example: 1 }),
  roundsCompleted: z.int().min(0).openapi({ example: 3 }),
  maxRounds: z.int().min(1).optional().openapi({ example: 5 }),
  result: jsonSchema.optional().openapi({ description: 'What it gave.' }),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional().openapi('TaskError', {
    description: 'Why it failed or was cancelled. Switch on `code`.',
  }),
};

/** One task. */
export const taskSchema = z
  .strictObject(task)
  .openapi('Task', { description: 'A run that waits, or has waited, for its turn.' });
export type TaskAnswer = z.infer<typeof taskSchema>;

export const submittedTaskSchema = z
  .strictObject({
    ...task,
    joined: z.boolean().openapi({
      description: 'True when a task that was there stands for this one too.',
    }),
  })
  .openapi('SubmittedTask');

export const taskListSchema = z.strictObject({ tasks: z.array(taskSchema) }).openapi('TaskList');

export const taskPathSchema = z.strictObject({
  task: idSchema.openapi({ description: 'Id of the task.', example: '0f3c9a5b7d1e' }),
});

const mostListed = 1_000;

export const tasksQuerySchema = z.strictObject({
  state: z
    .union([stateSchema.transform((one) => [one]), z.array(stateSchema).max(taskStates.length)])
    .optional()
    .openapi({
      type: 'array',
      items: { type: 'string', enum: [...taskStates] },
      description: 'Only tasks in these states; may be repeated. Default: those not ended.',
    }),
  requester: idSchema.optional().openapi({ description: 'Only tasks of this user.' }),
  session: idSchema.optional().openapi({ description: 'Only tasks of this session.' }),
  limit: limitSchema(mostListed, 100),
});

const longestWaitMs = 60_000;

export const taskQuerySchema = z.strictObject({
  wait: z.coerce.number().int().min(0).max(longestWaitMs).default(0).openapi({
    type: 'integer',
    minimum: 0,
    maximum: longestWaitMs,
    default: 0,
    description: 'Milliseconds to wait for the task to end; then it is answered as it is.',
    example: 30_000,
  }),
});

/** A new priority for a task. */
export const reprioritySchema = z
  .strictObject({ ...reasonSchema.shape, priority: prioritySchema })
  .openapi('Repriority');

const quantilesSchema = z.strictObject({
  p50: z.number().openapi({ description: 'For half of the cases.' }),
  p90: z.number().openapi({ description: 'For nine of ten cases.' }),
});

export const taskExplanationSchema = z
  .strictObject({
    task: taskSchema,
    block: z
      .looseObject({ kind: z.string() })
      .optional()
      .openapi('TaskBlock', {
        description:
          'Reason why it does not run. Missing when it runs, has ended, or only waits for a free ' +
          'place. Switch on `kind`: `suspended`, `not_before`, `waits`, `key`, `rate`, ' +
          '`queue_limit`, `out_of_scope` or `taken`.',
        example: { kind: 'not_before', at: 1_767_225_600_000 },
      }),
    before: z
      .int()
      .min(0)
      .optional()
      .openapi({ description: 'Tasks that begin before it, by the order of now.' }),
    estimate: z
      .strictObject({
        beginsInMs: quantilesSchema,
        takesMs: quantilesSchema,
        samples: z.int().min(0),
      })
      .optional()
      .openapi({ description: 'From the durations of `samples` ended tasks of the same agent.' }),
    text: z.string().openapi({ description: 'The same in a sentence.', example: 'It is next.' }),
  })
  .openapi('TaskExplanation');
