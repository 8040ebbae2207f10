import { z } from '@hono/zod-openapi';
import {
  cursorSchema,
  idSchema,
  jsonSchema,
  limitSchema,
  nextCursorSchema,
  timestampSchema,
} from './common.ts';

const mostReports = 200;
const usualReports = 50;
const mostCases = 500;
const usualCases = 100;

export const evalPathSchema = z.strictObject({
  id: idSchema.openapi({
    description: 'Id of the report.',
    example: '20261122T073000000-customer-support-2f8c1d90',
  }),
});

export const evalListQuerySchema = z.strictObject({
  limit: limitSchema(mostReports, usualReports),
  cursor: cursorSchema.optional(),
});

export const evalQuerySchema = z.strictObject({
  variant: idSchema.optional().openapi({ description: 'Only cases with this variant.' }),
  outcome: z.enum(['passed', 'failed']).optional().openapi({
    description: 'Only cases all of whose trials passed, or only those of which one did not.',
  }),
  text: z.string().min(1).max(500).optional().openapi({
    description: 'Only cases with this text, in either case: in id, messages, answers, findings.',
  }),
  limit: limitSchema(mostCases, usualCases),
  cursor: cursorSchema.optional(),
});

export const evalComparisonQuerySchema = z.strictObject({
  with: idSchema.openapi({
    description: 'Id of the other report, the candidate; the same one for two of its variants.',
  }),
  variant: idSchema.optional().openapi({ description: 'Of the baseline. Default: its first.' }),
  withVariant: idSchema.optional().openapi({
    description:
      'Of the candidate. Default: in another report the one of the same name, else its first; ' +
      'in the same report the second.',
  }),
  limit: limitSchema(mostCases, usualCases),
  cursor: cursorSchema.optional(),
});

const interval = { value: z.number(), low: z.number(), high: z.number() };
const usageSchema = z.strictObject({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedInputTokens: z.number().optional(),
  cacheWriteTokens: z.number().optional(),
  reasoningTokens: z.number().optional(),
});
const errorSchema = z.strictObject({
  name: z.string(),
  code: z.string(),
  message: z.string(),
  data: z.record(z.string(), z.unknown()).optional(),
});
const passAtKSchema = z.array(z.strictObject({ k: z.number(), value: z.number() }));

const variantSchema = z
  .strictObject({
    name: z.string().openapi({ example: 'current' }),
    version: z.string().optional(),
    app: z.string().optional(),
    agent: z.string().optional(),
    summary: z.strictObject({
      cases: z.number(),
      trials: z.number(),
      passed: z.number().openapi({ description: 'Trials that passed.' }),
      passRate: z.strictObject(interval),
      passAtK: passAtKSchema,
      passAllK: passAtKSchema,
      scores: z.record(
        z.string(),
        z.strictObject({
          mean: z.number(),
          low: z.number(),
          high: z.number(),
          trials: z.number(),
          passed: z.number(),
        }),
      ),
      durationMs: z.strictObject({ mean: z.number(), p50: z.number(), p95: z.number() }),
      cost: z.strictObject({ total: z.number(), mean: z.number() }).optional(),
      usage: usageSchema,
      steps: z.strictObject({ mean: z.number() }),
    }),
  })
  .openapi('EvalVariant');

const head = {
  name: z.string().openapi({ example: 'Customer support' }),
  runId: z.string(),
  startedAt: timestampSchema,
  finishedAt: timestampSchema
    .optional()
    .openapi({ description: 'Missing when the eval was stopped before its end.' }),
  total: z.number().openapi({ description: 'Trials that the eval is made of.' }),
  done: z.number().openapi({ description: 'Trials that have ended.' }),
  threshold: z.number().optional(),
  passed: z.boolean(),
  confidence: z.number(),
  variants: z.array(variantSchema),
};

export const evalPageSchema = z
  .strictObject({
    reports: z.array(
      z
        .strictObject({
          id: z.string(),
          bytes: z.int(),
          report: z.strictObject(head).openapi('EvalHead').optional(),
          problem: z
            .strictObject({
              reason: z.enum(['too_large', 'not_json', 'unknown_version', 'damaged']),
              detail: z.string(),
            })
            .optional()
            .openapi({ description: 'Why the file is no report; it is listed without one then.' }),
        })
        .openapi('KeptEval'),
    ),
    cursor: nextCursorSchema,
  })
  .openapi('EvalPage', { description: 'Reports of the newest runs first.' });

const differenceSchema = z
  .strictObject({
    ...interval,
    baseline: z.number(),
    candidate: z.number(),
    pValue: z.number(),
    significant: z.boolean(),
  })
  .openapi('EvalDifference', { description: 'Candidate minus baseline.' });

const comparisonSchema = z
  .strictObject({
    baseline: z.string(),
    candidate: z.string(),
    cases: z.number(),
    passRate: differenceSchema,
    scores: z.record(z.string(), differenceSchema),
    measures: z.strictObject({
      durationMs: differenceSchema,
      steps: differenceSchema,
      tokens: differenceSchema,
      cost: differenceSchema.optional(),
    }),
    improved: z.array(z.string()),
    regressed: z.array(z.string()),
  })
  .openapi('EvalStatistics');

const trialSchema = z
  .strictObject({
    trial: z.number(),
    session: z.string().openapi({ description: 'In the store of the app of the variant.' }),
    status: z.enum(['completed', 'error', 'timed_out', 'cancelled', 'waiting']),
    passed: z.boolean(),
    scores: z.array(
      z.strictObject({
        scorer: z.string(),
        score: z.number(),
        passed: z.boolean(),
        threshold: z.number(),
        explanation: z.string(),
        details: jsonSchema.optional(),
        error: errorSchema.optional(),
      }),
    ),
    durationMs: z.number(),
    cost: z.number().optional().openapi({ description: 'US dollars.' }),
    usage: usageSchema,
    steps: z.number(),
    error: errorSchema.optional(),
    turns: z.array(
      z.strictObject({
        user: z.string(),
        assistant: z.string().optional(),
        toolCalls: z.array(
          z.strictObject({ name: z.string(), args: jsonSchema, status: z.string().optional() }),
        ),
      }),
    ),
  })
  .openapi('EvalTrial');

export const evalDetailsSchema = z
  .strictObject({
    id: z.string(),
    report: z.strictObject({
      ...head,
      methods: z.string(),
      comparisons: z.array(comparisonSchema),
    }),
    matches: z.int().openapi({
      description: 'Cases that the filter leaves, on all pages; one counts with each variant.',
    }),
    cases: z.array(
      z
        .strictObject({
          variant: z.string(),
          id: z.string(),
          description: z.string().optional(),
          tags: z.array(z.string()),
          expect: jsonSchema.optional(),
          trials: z.array(trialSchema),
          passRate: z.number(),
        })
        .openapi('EvalCase'),
    ),
    cursor: nextCursorSchema,
  })
  .openapi('EvalDetails', { description: 'A report with a page of its cases.' });

const caseSideSchema = z
  .strictObject({
    trials: z.int(),
    passed: z.int(),
    passRate: z.number(),
    scores: z.record(z.string(), z.number()),
    durationMs: z.number(),
    steps: z.number(),
    cost: z.number().optional(),
    output: z.string().optional(),
    finding: z.string().optional(),
    session: z.string().optional(),
  })
  .openapi('EvalCaseSide', {
    description: 'Means over the trials; the output is that of the first that failed.',
  });

const comparedSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  runId: z.string(),
  startedAt: timestampSchema,
  variant: variantSchema,
});
const kindSchema = z.enum(['worse', 'only_baseline', 'only_candidate', 'better', 'same']);

export const evalComparisonSchema = z
  .strictObject({
    baseline: comparedSchema,
    candidate: comparedSchema,
    comparison: comparisonSchema,
    counts: z.record(kindSchema, z.int()),
    cases: z.array(
      z
        .strictObject({
          id: z.string(),
          change: kindSchema,
          description: z.string().optional(),
          input: z.string().optional(),
          expect: jsonSchema.optional(),
          outputDiffers: z.boolean(),
          baseline: caseSideSchema.optional(),
          candidate: caseSideSchema.optional(),
        })
        .openapi('EvalCaseChange'),
    ),
    cursor: nextCursorSchema,
  })
  .openapi('EvalComparison', { description: 'Cases that got worse come first.' });
