export type {
  Guardrail,
  GuardrailContext,
  GuardrailPoint,
  GuardrailVerdict,
  InputCheck,
  ModelCallCheck,
  OutputCheck,
  ToolCallCheck,
  ToolResultCheck,
} from '../guardrail.ts';
export { defaultGuardrails } from './default-guardrails.ts';
export { type FormatRulesOptions, formatRules } from './format-rules.ts';
export { type InjectionPatternsOptions, injectionPatterns } from './injection-patterns.ts';
export { inventedToolCalls } from './invented-tool-calls.ts';
export { type ModelCallRateOptions, modelCallRate } from './model-call-rate.ts';
export type { PersonalDataKind } from './personal-data.ts';
export { type RedactPersonalDataOptions, redactPersonalData } from './redact-personal-data.ts';
export { type TopicBoundaryOptions, type Topics, topicBoundary } from './topic-boundary.ts';
