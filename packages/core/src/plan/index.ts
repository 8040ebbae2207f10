export type {
  PlanDiff,
  PlannedSubtask,
  Subtask,
  SubtaskBudget,
} from '../ledger/event.ts';
export type { Composed } from '../runnables/composed.ts';
export type {
  EdgeContext,
  EdgeError,
  ErrorEdge,
  Graph,
  GraphEdge,
  GraphLimits,
  GraphNodes,
  GraphOptions,
  ValueEdge,
} from './graph/definition.ts';
export { graph } from './graph/graph.ts';
export { type GraphMermaidOptions, graphMermaid } from './graph/mermaid.ts';
export {
  type GraphEdgeView,
  type GraphNodeStatus,
  type GraphNodeView,
  type GraphView,
  graphViews,
} from './graph/view.ts';
export {
  type ClassifiedIntent,
  type ClassifyIntentOptions,
  classifyIntent,
  type Intent,
  type IntentClassifier,
  type IntentRule,
  type IntentTest,
  intents,
  type WordTest,
} from './intent/classify-intent.ts';
export { englishIntents } from './intent/english-intents.ts';
export type { Plan } from './plan/definition.ts';
export { type PlanMermaidOptions, planMermaid } from './plan/mermaid.ts';
export { plan } from './plan/plan.ts';
export type {
  PlanLimits,
  PlannerFunction,
  PlanOptions,
  PlanRequest,
  PlanReview,
  SubtaskReport,
} from './plan/plan-options.ts';
export {
  type PlanRevision,
  type PlanStatus,
  type PlanView,
  type PlanViewOptions,
  planViews,
  type SubtaskStatus,
  type SubtaskView,
} from './plan/view.ts';
export {
  type PlanReActKind,
  type PlanReActSection,
  parsePlanReAct,
} from './react/parse-plan-react.ts';
export {
  finalAnswerGoal,
  type PlacedSection,
  type PlanReActOptions,
  type PlanReActView,
  planReAct,
  planReActOf,
} from './react/plan-react.ts';
export type { RouteInput, RouteRule, Router, RouterOptions } from './router/definition.ts';
export { router } from './router/router.ts';
