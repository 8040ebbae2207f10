import type { ErrorRecord } from '../../base/error.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Usage } from '../../ledger/event.ts';
import type {
  CaseReport,
  Comparison,
  Difference,
  EvalReport,
  Interval,
  PassAtK,
  ScoreReport,
  ScoreSummary,
  ToolCallReport,
  TrialReport,
  TurnReport,
  VariantReport,
  VariantSummary,
} from '../report.ts';
import { flag, json, list, number, object, oneOf, optional, record, text } from './parse.ts';

/** Format and version of the reports that this package writes and reads. */
export const reportFormat = 'adjutant-eval-report';
export const reportVersion = 1;

const interval = { value: number, low: number, high: number };
const usage = object<Usage>({
  inputTokens: number,
  outputTokens: number,
  cachedInputTokens: optional(number),
  cacheWriteTokens: optional(number),
  reasoningTokens: optional(number),
});
const error = object<ErrorRecord>({
  name: text,
  code: text,
  message: text,
  data: (value, path) =>
    value === undefined ? undefined : (record(json)(value, path) as JsonObject),
});
const passAtK = list(object<PassAtK>({ k: number, value: number }));

const summary = object<VariantSummary>({
  cases: number,
  trials: number,
  passed: number,
  passRate: object<Interval>(interval),
  passAtK,
  passAllK: passAtK,
  scores: record(
    object<ScoreSummary>({
      mean: number,
      low: number,
      high: number,
      trials: number,
      passed: number,
    }),
  ),
  durationMs: object<VariantSummary['durationMs']>({ mean: number, p50: number, p95: number }),
  cost: optional(object<NonNullable<VariantSummary['cost']>>({ total: number, mean: number })),
  usage,
  steps: object<VariantSummary['steps']>({ mean: number }),
});

const score = object<ScoreReport>({
  scorer: text,
  score: number,
  passed: flag,
  threshold: number,
  explanation: text,
  details: optional(json),
  error: optional(error),
});

const toolCall = object<ToolCallReport>({
  name: text,
  args: json,
  status: optional(
    oneOf(
      'success',
      'partial',
      'error_transient',
      'error_permanent',
      'error_blocked',
      'timeout',
      'unknown',
    ),
  ),
});

const trial = object<TrialReport>({
  trial: number,
  session: text,
  status: oneOf('completed', 'error', 'timed_out', 'cancelled', 'waiting'),
  passed: flag,
  scores: list(score),
  durationMs: number,
  cost: optional(number),
  usage,
  steps: number,
  error: optional(error),
  turns: list(
    object<TurnReport>({ user: text, assistant: optional(text), toolCalls: list(toolCall) }),
  ),
});

const variant = object<VariantReport>({
  name: text,
  version: optional(text),
  app: optional(text),
  agent: optional(text),
  summary,
  cases: list(
    object<CaseReport>({
      id: text,
      description: optional(text),
      tags: list(text),
      expect: optional(json),
      trials: list(trial),
      passRate: number,
    }),
  ),
});

const difference = object<Difference>({
  ...interval,
  baseline: number,
  candidate: number,
  pValue: number,
  significant: flag,
});

const comparison = object<Comparison>({
  baseline: text,
  candidate: text,
  cases: number,
  passRate: difference,
  scores: record(difference),
  measures: object<Comparison['measures']>({
    durationMs: difference,
    steps: difference,
    tokens: difference,
    cost: optional(difference),
  }),
  improved: list(text),
  regressed: list(text),
});

const report = object<EvalReport>({
  format: oneOf(reportFormat),
  v: oneOf(reportVersion),
  name: text,
  runId: text,
  startedAt: number,
  finishedAt: optional(number),
  total: number,
  done: number,
  variants: list(variant),
  comparisons: list(comparison),
  threshold: optional(number),
  passed: flag,
  confidence: number,
  methods: text,
});

/** Reads a report from JSON that anybody may have written. @throws NotParsedError */
export function parseReport(value: unknown): EvalReport {
  return report(value, '$');
}
