import { z } from '@hono/zod-openapi';
import { timeSchema as earliestSchema, idSchema } from './common.ts';

const requestKinds = ['approval', 'input', 'result', 'recovery', 'repeat', 'limit'] as const;
const requestStatuses = [
  'pending',
  'answered',
  'expired',
  'escalated',
  'cancelled',
  'withdrawn',
] as const;
/** Decisions of people; only the runtime decides `expire`, `escalate` and `cancel`. */
const decisions = [
  'approve',
  'edit',
  'reject',
  'answer',
  'succeeded',
  'retry',
  'report',
  'continue',
] as const;
/** Those that a button can say: they need no input. */
const linkDecisions = ['approve', 'reject', 'succeeded', 'retry', 'report', 'continue'] as const;
const allDecisions = [...decisions, 'expire', 'escalate', 'cancel'] as const;
const longestText = 10_000;
const mostAnswers = 100;
const mostListed = 200;
const defaultListed = 50;

const jsonSchema = z.unknown().openapi({ description: 'Any JSON value.' });
const timeSchema = z
  .number()
  .openapi({ description: 'Epoch milliseconds.', example: 1_767_225_600_000 });

export const requestSchema = z
  .object({
    requestId: z.string().openapi({ example: 'req_0f3c9a5b7d1e2f4a6b8c0d1e' }),
    session: z.string(),
    invocationId: z.string().openapi({ description: 'Path of the agent that made the call.' }),
    callId: z.string(),
    kind: z.enum(requestKinds).openapi({
      description:
        'What is asked for: leave to make a call (`approval`), or to `repeat` one that may ' +
        'have taken effect; `input` for a tool; the `result` of an operation that goes on ' +
        'elsewhere; what became of an attempt of unknown outcome (`recovery`); what to do ' +
        'at a `limit`.',
    }),
    agent: z.string(),
    name: z.string().openapi({ description: 'The tool; for a limit, the limit.' }),
    summary: z.string().openapi({
      description: 'One line that says what is to be done.',
      example: 'Refund 90 € for order 17',
    }),
    details: jsonSchema.optional().openapi({
      description: 'What else people are shown: the arguments, unless the tool says otherwise.',
    }),
    options: z
      .array(z.enum(allDecisions))
      .openapi({ description: 'The decisions to choose from.' }),
    inputSchema: z.record(z.string(), z.unknown()).optional().openapi({
      description: 'JSON Schema of the input, or of the arguments that may be edited.',
    }),
    mayDecide: z
      .array(z.string())
      .optional()
      .openapi({
        description:
          'Who may answer: `user:ann`, `operator:cfo`; a name without a kind is that of a ' +
          'user. Missing: anybody.',
      }),
    user: z.string().optional().openapi({ description: 'The user of the session, if it has one.' }),
    operationId: z
      .string()
      .optional()
      .openapi({ description: 'Name of the operation whose result is awaited.' }),
    createdAt: timeSchema,
    expiresAt: timeSchema
      .optional()
      .openapi({ description: 'Epoch milliseconds. Missing: it waits for as long as it takes.' }),
    status: z.enum(requestStatuses),
    settledBy: z
      .string()
      .optional()
      .openapi({ description: 'Who settled it.', example: 'operator:ann' }),
    settledAt: timeSchema.optional(),
  })
  .openapi('Request', { description: 'A question to somebody outside that a run waits for.' });

export type RequestJson = z.infer<typeof requestSchema>;

export const requestListSchema = z
  .object({
    requests: z.array(requestSchema),
    cursor: z
      .string()
      .optional()
      .openapi({ description: 'Gives the next page. Missing on the last one.' }),
  })
  .openapi('RequestList');

export const requestParamsSchema = z.object({
  request: idSchema.openapi({
    description: 'Id of the request.',
    example: 'req_0f3c9a5b7d1e2f4a6b8c0d1e',
  }),
});

export const requestQuerySchema = z.object({
  kind: z.enum(requestKinds).optional().openapi({ description: 'Only requests of this kind.' }),
  status: z
    .enum([...requestStatuses, 'all'])
    .default('pending')
    .openapi({ description: 'Only requests in this state.' }),
  session: idSchema.optional().openapi({ description: 'Only requests of this session.' }),
  user: idSchema.optional().openapi({ description: 'Only requests of sessions of this user.' }),
  from: earliestSchema.optional().openapi({
    description: 'Only requests that were asked for then or later: a time, or epoch milliseconds.',
  }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(mostListed)
    .default(defaultListed)
    .openapi({ description: 'How many at most.' }),
  cursor: z.string().min(1).optional().openapi({
    description: 'Goes on where a page ended. The other options must be those of that page.',
  }),
});

export type RequestQueryJson = z.infer<typeof requestQuerySchema>;

const alwaysText =
  'later calls of the tool in this session that are not asked about: equal ones (`call`), all ' +
  '(`tool`), or those whose paths lie below a folder.';
const extentSchema = z.union([
  z.enum(['call', 'tool']),
  z.strictObject({ below: z.string().min(1).max(longestText) }),
]);

const answerFields = {
  decision: z.enum(decisions).optional().openapi({
    description: "One of the request's options. Missing: `answer`, where that is an option.",
  }),
  input: jsonSchema.optional().openapi({
    description:
      'The input, the edited arguments, the result, or how much more a limit may be exceeded by.',
  }),
  args: jsonSchema
    .optional()
    .openapi({ description: 'The edited arguments: another name of `input`, for `edit`.' }),
  reason: z
    .string()
    .max(longestText)
    .optional()
    .openapi({ description: 'Why. The ledger has it, and the model is told it.' }),
  always: extentSchema.optional().openapi({ description: 'With `approve`: ' + alwaysText }),
};

const oneInput = 'give `input` or `args`, not both';
const hasOneInput = ({ input, args }: { input?: unknown; args?: unknown }): boolean =>
  input === undefined || args === undefined;

export const answerSchema = z
  .strictObject(answerFields)
  .refine(hasOneInput, oneInput)
  .openapi('Answer', {
    description:
      'What the caller says to a request. Who says it is the caller: its key or token says ' +
      'so, and nothing in here.',
    example: { decision: 'edit', args: { order: '17', cents: 8_000 }, reason: 'less the postage' },
  });

export type AnswerJson = z.infer<typeof answerSchema>;

export const batchSchema = z
  .strictObject({
    answers: z
      .array(z.strictObject({ requestId: idSchema, ...answerFields }).refine(hasOneInput, oneInput))
      .min(1)
      .max(mostAnswers)
      // Which one counts would be left to chance.
      .refine(
        (answers) => new Set(answers.map(({ requestId }) => requestId)).size === answers.length,
        'must have one answer for each request at most',
      ),
  })
  .openapi('Answers', {
    example: { answers: [{ requestId: 'req_0f3c9a5b7d1e2f4a6b8c0d1e', decision: 'approve' }] },
  });

const acceptedSchema = z.object({ requestId: z.string(), accepted: z.literal(true) });
const refusedSchema = z.object({
  requestId: z.string(),
  accepted: z.literal(false),
  problem: z
    .record(z.string(), z.unknown())
    .openapi({ description: 'Why, as the answer to this one alone would have said it.' }),
});

export const outcomesSchema = z
  .object({
    outcomes: z
      .array(z.union([acceptedSchema, refusedSchema]))
      .openapi({ description: 'In the order of the answers.' }),
  })
  .openapi('AnswerOutcomes');

export type OutcomesJson = z.infer<typeof outcomesSchema>;

export const standingListSchema = z
  .object({
    approvals: z.array(
      z.object({
        id: z.string().openapi({ description: 'Id of the request whose answer gave it.' }),
        tool: z.string(),
        covers: extentSchema.openapi({ description: 'The calls: ' + alwaysText }),
        by: z.string().openapi({ description: 'Who gave it.', example: 'operator:ann' }),
        seq: z.int().openapi({ description: 'Place of the decision in the ledger.' }),
        at: timeSchema,
      }),
    ),
  })
  .openapi('StandingApprovals');

export const withdrawalSchema = z
  .strictObject({ reason: answerFields.reason })
  .openapi('Withdrawal');

export const withdrawnSchema = z
  .object({ requestId: z.string(), status: z.literal('accepted') })
  .openapi('Withdrawn');

export const linkOptionsSchema = z
  .strictObject({
    decisions: z.array(z.enum(linkDecisions)).min(1).max(linkDecisions.length).optional().openapi({
      description:
        'What the link can be used for. Missing: all options of the request that need no input.',
    }),
    expiresAt: timeSchema.optional().openapi({
      description: 'Epoch milliseconds. Missing: the end of the request; without one, in 7 days.',
    }),
    by: z
      .string()
      .min(1)
      .max(longestText)
      .optional()
      .openapi({
        description:
          'Whose decision it will be: whoever has the link decides in this name. A name ' +
          'without a kind is that of a user. Another name than your own needs the permission ' +
          '`manage`.',
      }),
  })
  .openapi('LinkOptions', { example: { decisions: ['approve', 'reject'] } });

export const linkSchema = z
  .object({
    url: z.string().openapi({
      description: 'For a message. Whoever opens it is shown the request; only its buttons decide.',
    }),
    token: z.string().openapi({
      description: 'The token in the address. It is a credential: whoever has it can decide.',
    }),
    expiresAt: timeSchema,
  })
  .openapi('Link');

export const operationParamsSchema = z.object({
  operationId: idSchema.openapi({
    description: 'The name that the tool gave the operation.',
    example: 'film-17',
  }),
});

export const operationResultSchema = z
  .strictObject({
    result: jsonSchema.openapi({
      description:
        'What the operation gave; `null` when there is nothing. Of one that failed: why.',
    }),
    failed: z.boolean().default(false).openapi({ description: 'The operation failed.' }),
  })
  .refine(({ result }) => result !== undefined, {
    path: ['result'],
    message: 'is missing: give null when there is none',
  })
  .openapi('OperationResult', { example: { result: { url: 'https://example.com/film' } } });

export const operationSchema = z
  .object({ operationId: z.string(), status: z.literal('settled') })
  .openapi('Operation', { example: { operationId: 'film-17', status: 'settled' } });
