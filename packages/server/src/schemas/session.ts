import { z } from '@hono/zod-openapi';
import {
  cursorSchema,
  flagSchema,
  idSchema,
  laneSchema,
  limitSchema,
  messageTextSchema,
  newIdSchema,
  nextCursorSchema,
  seqSchema,
  timestampSchema,
} from './common.ts';

const longestSearch = 200;

const statuses = ['active', 'awaiting_input', 'sleeping', 'completed', 'error'] as const;

const statusSchema = z.enum(statuses).openapi({
  description:
    'What its last run is doing; `active` as well before the first run. `sleeping`: it waits ' +
    'for an instant and for nobody; `sleepsUntil` of the run is that.',
});

const listing = {
  id: idSchema.openapi({ example: 'customer-7' }),
  status: statusSchema,
  title: z
    .string()
    .optional()
    .openapi({ description: 'The beginning of the first message.', example: 'Where is my order?' }),
  agent: z.string().optional().openapi({
    description: 'The agent of its last run; missing before the first one.',
    example: 'support',
  }),
  user: z.string().optional().openapi({
    description: 'Whose session it is: the id of its scope `user`.',
    example: 'user-456',
  }),
  seq: z.int().min(0).openapi({ description: 'Place of its last event.', example: 12 }),
  createdAt: timestampSchema,
  updatedAt: timestampSchema,
};

/** A session in a list. */
export const sessionSchema = z.strictObject(listing).openapi('Session', {
  description: 'A conversation with agents, and everything that was done in it.',
});
export type SessionAnswer = z.infer<typeof sessionSchema>;

/** One session. */
export const sessionDetailsSchema = z
  .strictObject({
    ...listing,
    waiting: z.int().min(0).openapi({
      description: 'Requests that wait for an answer; 1,000 stands for that many and more.',
      example: 0,
    }),
  })
  .openapi('SessionDetails');

export const sessionPageSchema = z
  .strictObject({ sessions: z.array(sessionSchema), cursor: nextCursorSchema })
  .openapi('SessionPage');

const scopesSchema = z.record(idSchema, idSchema).openapi({
  description: 'Ids of the shared scopes that it takes part in, by scope: at most 100.',
  example: { patient: 'patient-789' },
});

export const newSessionSchema = z
  .strictObject({
    id: newIdSchema.optional().openapi({
      description: 'Default: a new one. Not for callers that are bound to a user.',
      example: 'customer-7',
    }),
    user: idSchema.optional().openapi({
      description: 'Whose session it is. Default: the user that the caller is bound to.',
      example: 'user-456',
    }),
    scopes: scopesSchema.optional(),
    permissions: z
      .array(z.string().min(1).max(256))
      .max(100)
      .optional()
      .openapi({
        description:
          'What its runs may do besides what the app may, of what tools require. Only for ' +
          'callers whose role may give them (`auth.grantPermissions`: admin, unless the ' +
          'server says otherwise) and who are not bound to a user.',
        example: ['fs:read'],
      }),
  })
  .refine(({ user, scopes }) => user === undefined || scopes?.['user'] === undefined, {
    path: ['scopes', 'user'],
    message: 'cannot be given with `user`, which says the same',
  })
  .openapi('NewSession');

export const sessionQuerySchema = z.strictObject({
  status: statusSchema.optional(),
  agent: idSchema.optional().openapi({
    description: 'Only sessions whose last run was of this agent.',
    example: 'support',
  }),
  user: idSchema
    .optional()
    .openapi({ description: 'Only sessions of this user.', example: 'user-456' }),
  text: z
    .string()
    .min(1)
    .max(longestSearch)
    .refine((text) => text.trim() !== '', 'must have a word')
    .optional()
    .openapi({
      description:
        'Only sessions whose messages have all of these words, and phrases in quotation marks; ' +
        'neither case nor accents matter. Not with an encrypted store ' +
        '(`text_search_unavailable`). A page ends after some time of searching, with what it ' +
        'has found.',
      example: 'refund "order 4711"',
    }),
  order: z
    .enum(['updatedAt', 'createdAt'])
    .default('updatedAt')
    .openapi({ description: 'By the time of the last event or of the first, newest first.' }),
  limit: limitSchema(1_000, 100),
  cursor: cursorSchema.optional(),
});

export const deleteQuerySchema = z.strictObject({
  erase: flagSchema.openapi({
    description: 'Takes the forks of the session along, and all that they share with it.',
  }),
});

const valuesSchema = z.record(z.string(), z.unknown());

export const stateQuerySchema = z.strictObject({
  at: seqSchema.optional().openapi({
    description: 'The event after which; 0 is before the first one. Default: the last one.',
  }),
});

const stateMembers = {
  seq: z.int().min(0),
  status: statusSchema,
  currentAgentName: z
    .string()
    .optional()
    .openapi({ description: 'The agent that had acted last.' }),
  overlays: z
    .record(z.string(), valuesSchema)
    .openapi({ description: 'What open parallel branches had written so far, by their paths.' }),
  sessionState: valuesSchema,
};

/** A state without its invocations. */
export const bareStateSchema = z.looseObject(stateMembers).openapi('BareState', {
  description:
    'The state of a session right after an event. Each shared scope that it knew by then is ' +
    'there as `<scope>State`.',
});

export const stateSchema = z
  .looseObject({
    ...stateMembers,
    invocationTree: z.array(
      z.looseObject({
        invocationId: z.string(),
        kind: z.string(),
        name: z.string(),
        status: z.string(),
        startIndex: z.int(),
      }),
    ),
  })
  .openapi('State', {
    description:
      'A session as it was right after an event. Each shared scope that it knew by then is ' +
      'there as `<scope>State`.',
  });

export const messageSchema = z
  .strictObject({
    text: messageTextSchema(1_000_000)
      .min(1)
      .openapi({ example: 'Please send it to my new address.' }),
    interrupt: z
      .boolean()
      .optional()
      .openapi({
        description:
          'Cuts off the answer that the model is giving, so that the next one has the ' +
          'message. Default: false.',
      }),
    key: idSchema
      .optional()
      .openapi({ description: 'The same message sent twice under one key is one message.' }),
    lane: laneSchema.optional(),
  })
  .openapi('NewMessage');

/** The lane of a session whose open run is meant. */
export const laneOfSessionSchema = z
  .strictObject({ lane: laneSchema.optional() })
  .openapi('LaneOfSession');

export const reasonSchema = z
  .strictObject({
    reason: z
      .string()
      .max(10_000)
      .optional()
      .openapi({ description: 'For the ledger.', example: 'No longer needed.' }),
  })
  .openapi('Reason');

/** A reason, and the lane of a session whose open run is meant. */
export const controlSchema = z
  .strictObject({ ...reasonSchema.shape, lane: laneSchema.optional() })
  .openapi('Control');

/** An interruption: a reason, the lane of a session whose open run is meant, and what follows. */
export const interruptSchema = z
  .strictObject({
    ...controlSchema.shape,
    next: z
      .enum(['pause', 'continue'])
      .optional()
      .openapi({
        description:
          '`pause`: the run waits until it is continued. `continue`: the model is asked again, ' +
          'with the messages that have come. Default: pause.',
      }),
  })
  .openapi('Interruption');
