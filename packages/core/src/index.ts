export { AdjutantError, type ErrorRecord, isAdjutantError } from './base/error.ts';
export type { ErrorCode } from './base/error-code.ts';
export type { JsonObject, JsonValue } from './base/json.ts';
export type { RetryOptions } from './base/retry-options.ts';
export { Secret, secret } from './base/secret.ts';
export { type ReadToolResultOptions, readToolResult } from './engine/agent/read-tool-result.ts';
export type { RecoverOptions, RuntimeOptions } from './engine/app/runtime-options.ts';
export type { SessionPage, SessionQuery } from './engine/app/session-query.ts';
export type { SessionService } from './engine/app/session-service.ts';
export type {
  ForkOptions,
  OnStep,
  RunLimits,
  RunOptions,
  RuntimeLimits,
  SessionOptions,
} from './engine/frame/run-options.ts';
export type { FollowOptions } from './engine/live/live-sessions.ts';
export type { AnswerMark } from './engine/live/live-text.ts';
export type { PubSub } from './engine/live/pub-sub.ts';
export type { ApprovalKey, ApprovalTokenOptions } from './engine/requests/approval-token.ts';
export { type AnsweredBy, actorOf, type RequestAnswer } from './engine/requests/check.ts';
export type { ApprovalQuery, RequestEntry, RequestQuery } from './engine/requests/list.ts';
export type { TokenOptions, TokenView } from './engine/requests/request-tokens.ts';
export type {
  AnswerOutcome,
  BatchAnswer,
  OperationOutcome,
  RequestService,
} from './engine/requests/service.ts';
export type { NewRequest, OnRequest } from './engine/requests/telling.ts';
export type {
  Advance,
  AdvanceOptions,
  CancelOptions,
  ControlOptions,
  SendOptions,
} from './engine/run/advance.ts';
export type {
  Admission,
  EndedRun,
  LifecycleOptions,
  LifecycleRun,
} from './engine/run/lifecycle.ts';
export type { ReopenOptions } from './engine/run/reopen.ts';
export { type AcceptedRun, Run, type RunResult } from './engine/run/run.ts';
export { type InAppOptions, run, session } from './in-memory-app.ts';
export {
  type ActorKind,
  type Event,
  type EventDraft,
  type EventOf,
  type EventType,
  type Fold,
  foldEvent,
  isDurable,
  type StreamEvent,
  type TransientEvent,
  type Usage,
} from './ledger/event.ts';
export type { SessionListing, Store, StoredEvent } from './ledger/port.ts';
export type { SessionStatus } from './ledger/status.ts';
export { isSuccess, type ToolResult, type ToolResultStatus } from './ledger/tool-result.ts';
export type {
  Model,
  ModelChoice,
  ModelInput,
  ModelSettings,
  ModelVariants,
  Price,
} from './models/model.ts';
export { modelFromEnvironment, parseModelName } from './models/model-name.ts';
export { type ClaudeSettings, claude } from './models/providers/claude.ts';
export { type GeminiSettings, gemini } from './models/providers/gemini.ts';
export { type OpenAiSettings, openai } from './models/providers/openai.ts';
export {
  type OpenAiCompatibleSettings,
  openaiCompatible,
} from './models/providers/openai-compatible.ts';
export { rehearsal } from './models/rehearsal/model.ts';
export type { TextExample } from './models/text-protocol/instructions.ts';
export { textPrompt } from './models/text-protocol/text-prompt.ts';
export { type TextProtocolOptions, textProtocol } from './models/text-protocol/text-protocol.ts';
export { type Agent, type AgentLimits, type AgentOptions, agent } from './runnables/agent.ts';
export type { CompactionOptions } from './runnables/compaction-options.ts';
export type { Goal, GoalContext, GoalVerdict } from './runnables/goal.ts';
export type { HandoffOptions } from './runnables/handoffs.ts';
export type {
  ErrorAction,
  ErrorContext,
  ErrorHandler,
  HookContext,
  Hooks,
  HookToolCall,
  Middleware,
  ModelCall,
  ModelResult,
  StepEvent,
  SubstituteAnswer,
} from './runnables/hooks.ts';
export { type Loop, type LoopOptions, loop } from './runnables/loop.ts';
export type {
  Around,
  InvocationOperation,
  ModelOperation,
  Operation,
  RunOperation,
  ToolOperation,
} from './runnables/operation.ts';
export { type AgentOutput, type AnswerOf, type OutputOption, output } from './runnables/output.ts';
export { type Parallel, type ParallelOptions, parallel } from './runnables/parallel.ts';
export type {
  PromptEvent,
  PromptText,
  RenderContext,
  Renderer,
  ToolChoice,
} from './runnables/render-context.ts';
export { type Sequence, type SequenceOptions, sequence } from './runnables/sequence.ts';
export { type Step, type StepContext, type StepOptions, step } from './runnables/step.ts';
export type { Approval } from './runnables/waits.ts';
export { Runtime, runtime } from './runtime.ts';
export type {
  BodyContext,
  CallOptions,
  CallResult,
  EffectContext,
  EffectOptions,
  EffectProbe,
  EffectProbeResult,
  SpawnHandle,
} from './session/body-context.ts';
export type { OnWrite } from './session/bound-object.ts';
export type { PendingRequest } from './session/pending-request.ts';
export type { OutputOf, Runnable } from './session/runnable.ts';
export {
  type AnySession,
  Session,
} from './session/session.ts';
export type { LooseSnapshot, SessionSnapshot } from './session/session-snapshot.ts';
export type { StateOf, StateSchema, StateValuesOf } from './session/state-types.ts';
export { memoryStore } from './stores/memory.ts';
export type {
  CircuitBreakerOptions,
  ErrorRoutingOptions,
  EscalationTarget,
  LoopDetectionOptions,
  ResultCheckOptions,
  Strategy,
  SupervisionOptions,
} from './supervision/options.ts';
export type { ToolCheck } from './supervision/result-check.ts';
export { type AdvisorOptions, requestAlternativeApproach } from './tools/advisor.ts';
export { type AgentToolOptions, agentTool } from './tools/agent-tool.ts';
export { type ClassifyThrown, ToolFailure } from './tools/errors.ts';
export {
  type ApprovalOptions,
  type OnExpire,
  type PendingOperation,
  type PendingOperationOptions,
  pending,
  type RequestOptions,
} from './tools/request-options.ts';
export { toolResult } from './tools/result.ts';
export {
  type OnRepeat,
  type Probe,
  type ProbeContext,
  type ProbeResult,
  type Recovery,
  type Tool,
  type ToolContext,
  type ToolFallback,
  type ToolOptions,
  tool,
} from './tools/tool.ts';
export { type Toolset, toolset } from './tools/toolset.ts';
