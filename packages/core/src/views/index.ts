export { ConfidenceFold } from '../ledger/folds/confidence.ts';
export { type ModelUse, noUse, useOfBoth, useWith } from '../ledger/folds/model-use.ts';
export { type RunReport, runReport, type ToolCallRecord } from '../ledger/run-report.ts';
export type {
  ActiveInvocation,
  MomentOptions,
  SessionMoment,
  ShownChange,
} from '../session/moment.ts';
export {
  computeStateAtEvent,
  findEventIndex,
  findInvocationBoundary,
  type InvocationBoundary,
  type SnapshotInvocation,
  type StateSnapshot,
  snapshotAt,
} from '../session/time-travel.ts';
export { confidenceOf } from './confidence.ts';
export type { DecisionComponent } from './decision-words.ts';
export { type ExplainedDecision, type ExplainOptions, explain } from './explain.ts';
export { explainText } from './explain-text.ts';
export { type AuditedEvent, auditText } from './explanation/audit-trace.ts';
export {
  type CausalEdge,
  type CausalGraph,
  type CausalNode,
  causalGraph,
  causalMermaid,
} from './explanation/causal-graph.ts';
export type { CauseKind } from './explanation/causes.ts';
export { type ExplanationFor, explainTo } from './explanation/explain-to.ts';
export type { ExplainedRunOptions } from './explanation/explained-run.ts';
export type { Evidence, Explanation, Limitation } from './explanation/explanation.ts';
export { type Failure, failures } from './failures.ts';
export {
  type EventFilter,
  matchingEvents,
  storedEventTypes,
  textSearch,
} from './matching-events.ts';
export { type RunMermaidOptions, runMermaid } from './mermaid.ts';
export {
  type DroppedEvents,
  inspectPrompt,
  type PromptInspection,
} from './prompt/inspect-prompt.ts';
export type { MessageKind } from './prompt/message-kinds.ts';
export {
  applyPromptDiff,
  type PromptItem,
  type PromptSectionChange,
} from './prompt/prompt-diff.ts';
export {
  type OfferedTool,
  type PlaceRange,
  type PromptSection,
  type PromptSectionName,
  promptOfSections,
} from './prompt/prompt-sections.ts';
export { type ResumeState, type UnansweredCall, validateResumeState } from './resume-state.ts';
export {
  type RunTreeModelCall,
  type RunTreeNode,
  type RunTreeToolCall,
  runTree,
} from './run-tree.ts';
export { type TranscriptEntry, transcript, transcriptEntries } from './transcript.ts';
