import { z } from '@hono/zod-openapi';
import { idSchema, jsonSchema, limitSchema, seqSchema, timestampSchema } from './common.ts';

const longestPage = 1_000;

const seq = z.int().min(0);
const ms = z.number().min(0);
const cost = z.number().optional().openapi({
  description: 'US dollars; missing when no price is known.',
});
const at = seqSchema.optional().openapi({
  description: 'Only the events up to this one. Default: the last one.',
});
const page = {
  after: seqSchema.default(0).openapi({ description: 'The `next` of the page before.' }),
  limit: limitSchema(longestPage, 100),
};
const answeredPage = {
  next: seq.openapi({
    description: 'The `after` of the next page; the last page ends with `at`.',
    example: 250,
  }),
  at: seq.openapi({ description: 'Place of the last event that was considered.', example: 250 }),
};
const place = {
  session: z.string().optional(),
  run: z.string().optional().openapi({ example: 'run_1' }),
  path: z.string().optional().openapi({ description: 'Path of the invocation.' }),
  agent: z.string().optional().openapi({ description: 'Name of what ran there.' }),
};
const dataSchema = z.record(z.string(), z.unknown());

export const treeQuerySchema = z.strictObject({
  at,
  run: idSchema.optional().openapi({ description: 'Only this run. Default: all.' }),
});

const modelCallSchema = z
  .strictObject({
    seq,
    model: z.string().openapi({ example: 'anthropic:claude-sonnet-5' }),
    round: z.int(),
    attempt: z.int(),
    status: z.string().openapi({ description: '`open`: it has no end yet.' }),
    durationMs: ms,
    tokens: z.int().min(0),
    cost,
  })
  .openapi('TreeModelCall');

const toolCallSchema = z
  .strictObject({
    seq,
    callId: z.string(),
    name: z.string(),
    success: z.boolean(),
    status: z.string().optional().openapi({ description: 'Missing while it has no result.' }),
    durationMs: ms.openapi({ description: 'Over all attempts.' }),
    waitingMs: ms.openapi({ description: 'In which it waited for somebody outside.' }),
    attempts: z.int().min(0),
    version: z.string().optional(),
    confidence: z.number().optional(),
  })
  .openapi('TreeToolCall');

const nodeSchema = z
  .strictObject({
    seq,
    path: z.string().openapi({ example: 'run_1' }),
    kind: z.string().openapi({ example: 'agent' }),
    name: z.string().openapi({ example: 'support' }),
    mode: z.string().openapi({ example: 'root' }),
    status: z.string().openapi({ example: 'completed' }),
    lane: z.string().optional(),
    durationMs: ms.openapi({ description: 'From start to end, or to the last event.' }),
    waitingMs: ms.openapi({ description: 'In which it waited for somebody outside.' }),
    selfMs: ms.openapi({ description: 'In which it neither waited nor had anything below it.' }),
    tokens: z.int().min(0).openapi({ description: 'Of its model calls and of all below it.' }),
    selfTokens: z.int().min(0),
    cost,
    selfCost: cost,
    modelCalls: z.array(modelCallSchema),
    toolCalls: z.array(toolCallSchema),
    get children() {
      return z.array(nodeSchema);
    },
  })
  .openapi('TreeNode', { description: 'An invocation with what it cost and what ran below it.' });

export const treeSchema = z
  .strictObject({ runs: z.array(nodeSchema), at: answeredPage.at })
  .openapi('RunTree');

export const decisionsQuerySchema = z.strictObject({
  at,
  ...page,
  run: idSchema.optional().openapi({ description: 'Only decisions of this run.' }),
  component: idSchema.optional().openapi({
    description: 'Only decisions of this component.',
    example: 'error_router',
  }),
});

const decisionSchema = z
  .strictObject({
    seq,
    at: timestampSchema,
    ...place,
    component: z.string().openapi({ example: 'error_router' }),
    decision: z.string().openapi({ example: 'retry' }),
    what: z.string().openapi({ description: 'The decision as a sentence.' }),
    why: z.string(),
    alternatives: z
      .array(z.string())
      .openapi({ description: 'The other possibilities that were considered.' }),
    by: z.string().openapi({ example: 'runtime' }),
    data: dataSchema.optional(),
  })
  .openapi('ExplainedDecision', { description: 'A choice that was made, in plain words.' });

export const decisionPageSchema = z
  .strictObject({ decisions: z.array(decisionSchema), ...answeredPage })
  .openapi('DecisionPage');

export const failuresQuerySchema = z.strictObject({ at, ...page });

const failureSchema = z
  .strictObject({
    seq,
    at: timestampSchema,
    ...place,
    kind: z.enum(['escalation', 'run', 'part', 'tool', 'model']).openapi({
      description:
        'Put on the list by supervision (`escalation`), or how far it reached: a whole run, a ' +
        'part of one, a call of a tool or of a model.',
    }),
    name: z.string(),
    code: z.string().openapi({ example: 'tool_error' }),
    message: z.string(),
    severity: z.string().openapi({ example: 'medium' }),
    cause: seq.optional().openapi({
      description: '`seq` of the failure in the list that this one followed from.',
    }),
    data: jsonSchema.optional(),
  })
  .openapi('Failure', { description: 'Something that did not end well.' });

export const failurePageSchema = z
  .strictObject({ failures: z.array(failureSchema), ...answeredPage })
  .openapi('FailurePage');

const readers = ['user', 'developer', 'auditor'] as const;

export const explanationQuerySchema = z.strictObject({
  at,
  run: idSchema.optional().openapi({ description: 'The run. Default: the last one.' }),
  for: z
    .enum(readers)
    .default('developer')
    .openapi({
      description:
        'Who reads it. `user`: one paragraph; `developer`: the conclusion with its evidence; ' +
        '`auditor`: every event with its causes.',
    }),
});

const evidenceSchema = z
  .strictObject({
    seq,
    source: z.string().openapi({ example: 'tool search' }),
    args: jsonSchema.optional(),
    result: jsonSchema,
    confidence: z.number().optional(),
  })
  .openapi('Evidence', { description: 'Something that the conclusion of a run rests on.' });

const conclusionSchema = z
  .strictObject({
    run: z.string(),
    agent: z.string(),
    began: z
      .strictObject({ trigger: z.string(), firing: z.string(), why: z.string() })
      .optional()
      .openapi({ description: 'The firing of a trigger that began the run.' }),
    status: z.enum(['completed', 'error', 'cancelled', 'waiting', 'sleeping', 'running']),
    waitsFor: z.enum(['input', 'tool_input', 'pause']).optional(),
    seq: seq.openapi({ description: 'Place of the event that it was concluded with.' }),
    conclusion: jsonSchema,
    requests: z
      .array(z.strictObject({ seq, requestId: z.string(), what: z.string() }))
      .optional()
      .openapi({ description: 'What it waits with, the oldest first.' }),
    confidence: z.number().optional(),
    evidence: z.array(evidenceSchema),
    decisions: z.array(decisionSchema),
    limitations: z.array(z.strictObject({ seq, what: z.string() })),
  })
  .openapi('Conclusion', { description: 'What a run came to, with its evidence.' });

const auditedEventSchema = z
  .strictObject({
    seq,
    time: z.string(),
    afterMs: z.number(),
    type: z.string(),
    by: z.string(),
    path: z.string().optional(),
    agent: z.string().optional(),
    what: z.string().openapi({ description: 'The event as a sentence.' }),
    why: z.string().optional(),
    alternatives: z.array(z.string()).optional(),
    detail: jsonSchema.optional(),
    causes: z.array(seq).openapi({ description: '`seq` of the events that led to it.' }),
    decisive: z.boolean().openapi({ description: 'It led to what the run came to.' }),
  })
  .openapi('AuditedEvent');

const explained = { run: z.string(), at: answeredPage.at };

export const explanationSchema = z
  .discriminatedUnion('for', [
    z.strictObject({ for: z.literal('user'), ...explained, text: z.string() }),
    z.strictObject({ for: z.literal('developer'), ...explained, explanation: conclusionSchema }),
    z.strictObject({ for: z.literal('auditor'), ...explained, trace: z.array(auditedEventSchema) }),
  ])
  .openapi('Explanation', { description: 'A run that is explained to a reader.' });
