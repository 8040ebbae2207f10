import { z } from '@hono/zod-openapi';
import { taskPriorities } from 'adjutant/scheduler';
import {
  idSchema,
  jsonSchema,
  limitSchema,
  messageTextSchema,
  newIdSchema,
  timestampSchema,
} from './common.ts';
import { reasonSchema } from './session.ts';

const longestName = 100;
const longestText = 10_000;
const mostMs = 31_536_000_000;
const mostCount = 1_000_000;
const mostChannels = 20;
const triggerStatuses = ['active', 'paused', 'disabled', 'completed', 'deleted'] as const;

const statusSchema = z.enum(triggerStatuses).openapi({
  description:
    '`active`: it fires. `paused`, `disabled`: it does not, until it is resumed. `completed`: it ' +
    'has no further instant. `deleted`: it is no more; its history is kept.',
});
const durationSchema = z.int().min(0).max(mostMs);

const cronSchema = z
  .strictObject({
    kind: z.literal('cron'),
    pattern: z.string().max(longestText).openapi({ example: '0 8 * * 1-5' }),
    timeZone: z.string().max(longestName).optional().openapi({
      description: 'IANA name of a zone. Default: `UTC`.',
      example: 'Europe/Berlin',
    }),
  })
  .openapi('CronSchedule');

const everySchema = z
  .strictObject({
    kind: z.literal('every'),
    everyMs: z.number().max(mostMs).openapi({
      description: 'Milliseconds between two instants, at least 1,000.',
      example: 900_000,
    }),
    jitterMs: durationSchema.optional().openapi({
      description: 'Largest delay of a firing. Default: 0.',
      example: 30_000,
    }),
  })
  .openapi('IntervalSchedule');

const atSchema = z
  .strictObject({
    kind: z.literal('at'),
    instant: z.union([z.number(), z.string().max(longestName)]).openapi({
      description: 'Epoch milliseconds, or a text with an offset or a `timeZone`.',
      example: '2027-06-01T15:00+02:00',
    }),
    timeZone: z.string().max(longestName).optional().openapi({
      description: 'IANA name of the zone of a text without an offset.',
      example: 'Europe/Berlin',
    }),
  })
  .openapi('OnceSchedule');

const eventSchema = z
  .strictObject({
    kind: z.literal('event'),
    pattern: z.string().max(longestText).openapi({
      description: 'Type of published events, or a pattern of types.',
      example: 'mail.*',
    }),
  })
  .openapi('EventPattern');

/** A schedule, by data. */
export const scheduleSchema = z
  .discriminatedUnion('kind', [cronSchema, everySchema, atSchema], {
    error: 'needs the `kind` cron, every or at, with what belongs to it',
  })
  .openapi('Schedule');

/** Causes of firings that can be stored: those without functions and secrets. */
const onSchema = z
  .discriminatedUnion('kind', [cronSchema, everySchema, atSchema, eventSchema], {
    error:
      'needs the `kind` cron, every, at or event, with what belongs to it; conditions and ' +
      'webhooks have functions and secrets, and are declared in code',
  })
  .openapi('TriggerOn');
export type NewTriggerOn = z.output<typeof onSchema>;

const noticeSchema = z
  .strictObject({
    user: idSchema.openapi({ description: 'User who is told.', example: 'user-456' }),
    channels: z.array(idSchema).max(mostChannels).optional().openapi({
      description: 'Names of channels, in the order of attempts. Default: all of the app.',
    }),
  })
  .openapi('TriggerNotice');

const settings = {
  description: z.string().max(longestText),
  input: messageTextSchema(longestText).openapi({
    description: 'Instruction for the started run.',
    example: 'Summarize the unread mail.',
  }),
  missed: z.enum(['skip', 'once', 'all']).openapi({
    description: 'Rule for instants that were late. Default: `once`.',
  }),
  toleranceMs: durationSchema.openapi({
    description: 'Milliseconds after which a firing is late. Default: by the schedule.',
    example: 60_000,
  }),
  overlap: z.enum(['skip', 'queue', 'coalesce', 'cancel_previous']).openapi({
    description: 'Rule for a firing while the task of an earlier one goes on. Default: `skip`.',
  }),
  mostPerHour: z.int().min(1).max(mostCount).openapi({
    description: 'Firings in an hour; more are refused. Default: 600.',
    example: 600,
  }),
  priority: z.enum(taskPriorities).openapi({
    description: 'Priority of the started tasks. Default: `low`.',
  }),
  queue: idSchema.openapi({
    description: 'Queue of the started tasks. Default: `default`.',
    example: 'default',
  }),
  requester: idSchema.openapi({
    description:
      'User on whose behalf the tasks run. Default: the user of the credential, else `system`.',
    example: 'user-456',
  }),
  reentrant: z.int().min(0).max(mostCount).openapi({
    description: 'Times that it may occur in its own chain of causes. Default: 0.',
    example: 0,
  }),
  notify: noticeSchema.openapi({ description: 'User who is told how the task of a firing ended.' }),
};
const startSchema = idSchema.openapi({
  description: 'Name of the runnable that a firing starts: GET /v1/agents lists what there is.',
  example: 'clerk',
});
const nameSchema = newIdSchema.max(longestName);

type Settings = typeof settings;
type OptionalOf<Part extends z.ZodType> = z.ZodOptional<Part>;
type RemovableOf<Part extends z.ZodType> = z.ZodOptional<z.ZodNullable<Part>>;

const optional = Object.fromEntries(
  Object.entries(settings).map(([name, part]) => [name, (part as z.ZodType).optional()]),
) as { [Name in keyof Settings]: OptionalOf<Settings[Name]> };
const removable = Object.fromEntries(
  Object.entries(settings).map(([name, part]) => [name, (part as z.ZodType).nullable().optional()]),
) as { [Name in keyof Settings]: RemovableOf<Settings[Name]> };

/** A trigger that is made by data alone. */
export const newTriggerSchema = z
  .strictObject({
    name: nameSchema.openapi({
      description: 'Unique within the app and tenant.',
      example: 'morning',
    }),
    on: onSchema,
    start: startSchema,
    ...optional,
  })
  .openapi('NewTrigger');

/** A change of a trigger: what is not named stays, and `null` takes an option away. */
export const triggerChangeSchema = z
  .strictObject({
    on: onSchema.optional(),
    start: startSchema.optional(),
    ...removable,
  })
  .openapi('TriggerChange');

/** A trigger, as answers have it. */
export const triggerSchema = z
  .strictObject({
    name: z.string().openapi({ example: 'morning' }),
    description: z.string().optional(),
    status: statusSchema,
    on: z.looseObject({ kind: z.string() }).openapi('TriggerCause', {
      description:
        'Cause of its firings: `cron`, `every`, `at`, `event`, `condition` or `webhook`, with ' +
        'the part of it that is data.',
      example: { kind: 'cron', pattern: '0 8 * * 1-5', timeZone: 'Europe/Berlin' },
    }),
    start: z.string().openapi({ description: 'Name of the started runnable.', example: 'clerk' }),
    input: z.string().optional(),
    missed: z.string().openapi({ example: 'once' }),
    toleranceMs: z.number().optional().openapi({ example: 60_000 }),
    overlap: z.string().openapi({ example: 'skip' }),
    mostPerHour: z.int().openapi({ example: 600 }),
    reentrant: z.int().openapi({ example: 0 }),
    priority: z.string().optional().openapi({ description: 'Missing: `low`.', example: 'low' }),
    queue: z.string().optional().openapi({ description: 'Missing: `default`.' }),
    requester: z.string().optional().openapi({ description: 'Missing: `system`.' }),
    notify: z
      .strictObject({ user: z.string(), channels: z.array(z.string()).optional() })
      .optional(),
    revision: z.int().min(1).openapi({ description: 'Counts its changes.', example: 1 }),
    createdAt: timestampSchema,
    nextAt: timestampSchema.optional().openapi({ description: 'Next instant or check.' }),
    open: z
      .strictObject({ task: z.string(), session: z.string(), instant: timestampSchema })
      .optional()
      .openapi({ description: 'Work of the last firing, while it goes on.' }),
    queued: z.int().min(0).openapi({ description: 'Firings that wait for its end.', example: 0 }),
    fired: z.int().min(0).openapi({ example: 12 }),
    failed: z.int().min(0).openapi({ example: 0 }),
    last: z
      .strictObject({
        at: timestampSchema,
        instant: timestampSchema,
        task: z.string(),
        session: z.string(),
        status: z.string().optional(),
      })
      .optional()
      .openapi({ description: 'Last firing that started work; `status` once that has ended.' }),
  })
  .openapi('Trigger', { description: 'A trigger, which starts tasks by itself.' });
export type TriggerAnswer = z.infer<typeof triggerSchema>;

export const triggerListSchema = z
  .strictObject({ triggers: z.array(triggerSchema) })
  .openapi('TriggerList');

export const triggerPathSchema = z.strictObject({
  trigger: idSchema.openapi({ description: 'Name of the trigger.', example: 'morning' }),
});

const mostTriggers = 1_000;

export const triggersQuerySchema = z.strictObject({
  status: z
    .union([
      statusSchema.transform((one) => [one]),
      z.array(statusSchema).max(triggerStatuses.length),
    ])
    .optional()
    .openapi({
      type: 'array',
      items: { type: 'string', enum: [...triggerStatuses] },
      description:
        'Only triggers with these statuses; may be repeated. Default: all but deleted ones.',
    }),
  limit: limitSchema(mostTriggers, 100),
});

/** A firing by hand. */
export const triggerFiringSchema = z
  .strictObject({
    ...reasonSchema.shape,
    key: idSchema.optional().openapi({
      description:
        'Name of the firing: the same one again is the same firing. Default: made of the ' +
        '`Idempotency-Key`, else a new one.',
      example: 'report-2027-01',
    }),
  })
  .openapi('TriggerFiring');

/** Answer to a command about a trigger. */
export const acceptedTriggerSchema = z
  .strictObject({
    trigger: z.string().openapi({ example: 'morning' }),
    status: z.literal('accepted'),
  })
  .openapi('AcceptedTrigger', { description: 'A command about a trigger that is stored.' });

const mostPreviewed = 100;
const usualPreviewed = 5;

export const previewQuerySchema = z.strictObject({
  count: limitSchema(mostPreviewed, usualPreviewed),
});

/** A schedule that nobody has saved yet. */
export const schedulePreviewSchema = z
  .strictObject({
    on: scheduleSchema,
    count: z.int().min(1).max(mostPreviewed).optional().openapi({
      description: 'How many at most. Default: 5.',
      example: usualPreviewed,
    }),
  })
  .openapi('NewPreview');

export const previewSchema = z
  .strictObject({
    instants: z.array(timestampSchema).openapi({ description: 'Epoch milliseconds, in order.' }),
  })
  .openapi('Preview');

export const triggerHistoryQuerySchema = z.strictObject({ limit: limitSchema(mostTriggers, 100) });

export const triggerHistorySchema = z
  .strictObject({
    history: z.array(
      z
        .strictObject({
          seq: z.int(),
          at: timestampSchema,
          by: z.string().openapi({ example: 'user:user-456' }),
          decision: z.string().openapi({
            description: 'Such as `fire`, `skip`, `end` or `pause`.',
            example: 'pause',
          }),
          reasoning: z.string(),
          data: jsonSchema.optional(),
        })
        .openapi('TriggerHistoryEntry'),
    ),
  })
  .openapi('TriggerHistory');

/** Answer to a delivery of a webhook. */
export const deliverySchema = z
  .strictObject({
    status: z.literal('accepted'),
    duplicate: z.boolean().openapi({ description: 'True when it had come before.' }),
  })
  .openapi('Delivery');
