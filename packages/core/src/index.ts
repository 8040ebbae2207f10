export { AbortReason } from './base/cancel-scope.ts';
export { type Clock, systemClock } from './base/clock.ts';
export { AdjutantError, type ErrorRecord, errorFromRecord, isAdjutantError } from './base/error.ts';
export { type IdSource, systemIds } from './base/id.ts';
export { InvalidOptionError } from './base/invalid-option.ts';
export { canonicalJson, type JsonObject, type JsonValue } from './base/json.ts';
export { nearestName } from './base/nearest-name.ts';
export { MissingPackageError } from './base/optional-package.ts';
export { type Random, systemRandom } from './base/random.ts';
export { Secret, secret } from './base/secret.ts';
export { systemTurns, type Turns } from './base/turns.ts';
export { visibleJson, visibleLine, visibleText } from './base/visible-text.ts';
export { VisibleTextStream } from './base/visible-text-stream.ts';
export { PromptNotFoundError, promptAt, promptOf } from './context/recipe.ts';
export {
  enrichUserMessages,
  includeHistory,
  injectSystemMessage,
  injectUserMessage,
  limitTools,
  pruneReasoning,
  selectRecentEvents,
  selectRecentTokens,
  setToolChoice,
  wrapUserMessages,
} from './context/renderers.ts';
export {
  enrichment,
  message,
  PromptTemplateError,
  type PromptView,
  template,
} from './context/typed-prompts.ts';
export {
  EffectFailedError,
  EffectUnknownError,
  InvalidEffectError,
} from './effects/recorded-effect-errors.ts';
export { HookFailedError } from './engine/agent/hook-pipeline.ts';
export { type ReadToolResultOptions, readToolResult } from './engine/agent/read-tool-result.ts';
export type { RecoverOptions, RuntimeOptions } from './engine/app/runtime-options.ts';
export type { SessionPage, SessionQuery, SessionService } from './engine/app/session-service.ts';
export {
  DuplicateRunnableError,
  HandoffRefusedError,
  InvalidInputError,
  InvalidRunError,
  InvalidRuntimeError,
  InvocationEndedError,
  NoOpenRunError,
  RunStoppedError,
  UnknownRunnableError,
} from './engine/frame/errors.ts';
export { InvalidFactError } from './engine/frame/facts.ts';
export type { OnStep } from './engine/frame/run-context.ts';
export type {
  ForkOptions,
  RunLimits,
  RunOptions,
  RuntimeLimits,
  SessionOptions,
} from './engine/frame/run-options.ts';
export type { FollowOptions } from './engine/live/live-sessions.ts';
export type { AnswerMark } from './engine/live/live-text.ts';
export type { PubSub } from './engine/live/pub-sub.ts';
export type { ApprovalKey } from './engine/requests/approval-token.ts';
export { type AnsweredBy, actorOf, type RequestAnswer } from './engine/requests/check.ts';
export {
  ApprovalTokenError,
  DecisionNotOfferedError,
  InputMismatchError,
  InvalidAnswerError,
  MayNotDecideError,
  OperationAmbiguousError,
  type TokenRefusal,
} from './engine/requests/errors.ts';
export type { ApprovalQuery, RequestEntry, RequestQuery } from './engine/requests/list.ts';
export type {
  AnswerOutcome,
  BatchAnswer,
  OperationOutcome,
  RequestService,
  TokenOptions,
  TokenView,
} from './engine/requests/service.ts';
export type {
  Advance,
  AdvanceOptions,
  CancelOptions,
  ControlOptions,
  SendOptions,
} from './engine/run/advance.ts';
export {
  type Admission,
  type EndedRun,
  InvalidAdmissionError,
  type LifecycleOptions,
  type LifecycleRun,
} from './engine/run/lifecycle.ts';
export { NotReopenableError, type ReopenOptions } from './engine/run/reopen.ts';
export { type AcceptedRun, Run, type RunResult } from './engine/run/run.ts';
export { type InAppOptions, run, session } from './in-memory-app.ts';
export {
  type BlobReference,
  findReferences,
  isBlobReference,
  replaceReferences,
} from './ledger/blobs/blob.ts';
export {
  LedgerConflictError,
  LedgerMismatchError,
  LedgerUnreadableError,
  NotJsonError,
  StateConflictError,
  StateOrderError,
} from './ledger/errors.ts';
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
export type {
  AppendReceipt,
  Batch,
  Claim,
  ClaimOptions,
  DeleteOptions,
  DueSession,
  FoldSnapshot,
  Head,
  InboxEntry,
  InboxItem,
  LedgerHead,
  LedgerStore,
  ListOptions,
  PendingRequest,
  PostReceipt,
  ReadRange,
  ReleaseOptions,
  ReleaseReceipt,
  RequestFilter,
  RequestRow,
  RequestSettlement,
  RequestStatus,
  SessionListing,
  SessionSummary,
  SharedValue,
  SharedWrite,
  Store,
  StoreAdmin,
  StoredEvent,
  UnreadableEvent,
} from './ledger/port.ts';
export { RequestNotFoundError, RequestSettledError } from './ledger/request-errors.ts';
export { type RunReport, runReport, type ToolCallRecord } from './ledger/run-report.ts';
export {
  InvalidCursorError,
  SeqOutOfRangeError,
  SessionBusyError,
  SessionDeletedError,
  SessionExistsError,
  SessionNotFoundError,
} from './ledger/session-errors.ts';
export type { SessionStatus } from './ledger/status.ts';
export { StoreTooNewError, StoreUnavailableError } from './ledger/store-errors.ts';
export { isSuccess, type ToolResult, type ToolResultStatus } from './ledger/tool-result.ts';
export { decodeEvent, type EventDecoder } from './ledger/upcast.ts';
export { type CliMiddlewareOptions, cliMiddleware } from './middleware/cli.ts';
export {
  type LoggingHandlerOptions,
  loggingHandler,
  type RateLimitHandlerOptions,
  type RetryHandlerOptions,
  rateLimitHandler,
  retryHandler,
  type TimeoutHandlerOptions,
  timeoutHandler,
} from './middleware/error-handlers.ts';
export { globalInstructions } from './middleware/global-instructions.ts';
export {
  type LogEntry,
  type LoggingMiddlewareOptions,
  type LogLevel,
  loggingMiddleware,
} from './middleware/logging.ts';
export { type ResponseCacheOptions, responseCache } from './middleware/response-cache.ts';
export { type StripThinkTagsOptions, stripThinkTags } from './middleware/think-tags.ts';
export {
  InvalidModelError,
  InvalidModelNameError,
  MissingKeyError,
  ModelError,
} from './models/errors.ts';
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
export { InvalidDefinitionError } from './runnables/errors.ts';
export type { Goal, GoalContext, GoalVerdict } from './runnables/goal.ts';
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
  RenderContext,
  Renderer,
  ToolChoice,
} from './runnables/render-context.ts';
export { type Sequence, type SequenceOptions, sequence } from './runnables/sequence.ts';
export { type Step, type StepContext, type StepOptions, step } from './runnables/step.ts';
export { Runtime, runtime } from './runtime.ts';
export type {
  BodyContext,
  CallOptions,
  CallResult,
  EffectContext,
  EffectOptions,
  EffectProbe,
  EffectProbeResult,
  EffectRetry,
  SpawnHandle,
} from './session/body-context.ts';
export { type OnWrite, StateBindingError } from './session/bound-object.ts';
export { InvalidEventError } from './session/draft-check.ts';
export type { PendingCall } from './session/pending-call.ts';
export type { OutputOf, Runnable } from './session/runnable.ts';
export { InvalidStateError, UndeclaredScopeError } from './session/scoped-state.ts';
export {
  type AnySession,
  type LooseSnapshot,
  Session,
  type SessionSnapshot,
} from './session/session.ts';
export type { StateOf, StateSchema, StateValuesOf } from './session/state-types.ts';
export {
  computeStateAtEvent,
  findEventIndex,
  findInvocationBoundary,
  type InvocationBoundary,
  type SnapshotInvocation,
  type StateSnapshot,
  snapshotAt,
} from './session/time-travel.ts';
export { memoryStore } from './stores/memory.ts';
export { isOwnerGone, processOwner } from './stores/owner.ts';
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
} from './supervision/guardrail.ts';
export { defaultGuardrails } from './supervision/guardrail.ts';
export { type FormatRulesOptions, formatRules } from './supervision/guardrails/format-rules.ts';
export {
  type InjectionPatternsOptions,
  injectionPatterns,
} from './supervision/guardrails/injection-patterns.ts';
export { inventedToolCalls } from './supervision/guardrails/invented-tool-calls.ts';
export {
  type ModelCallRateOptions,
  modelCallRate,
} from './supervision/guardrails/model-call-rate.ts';
export type { PersonalDataKind } from './supervision/guardrails/personal-data.ts';
export {
  type RedactPersonalDataOptions,
  redactPersonalData,
} from './supervision/guardrails/redact-personal-data.ts';
export type {
  CircuitBreakerOptions,
  ErrorRoutingOptions,
  EscalationTarget,
  LoopOptions as LoopDetectionOptions,
  ResultCheckOptions,
  Strategy,
  SupervisionOptions,
} from './supervision/options.ts';
export type { ToolCheck } from './supervision/result-check.ts';
export { type AdvisorOptions, requestAlternativeApproach } from './tools/advisor.ts';
export { type AgentToolOptions, agentTool } from './tools/agent-tool.ts';
export {
  type ClassifyThrown,
  DuplicateToolError,
  InvalidToolError,
  ToolFailure,
} from './tools/errors.ts';
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
export type { DecisionComponent } from './views/decision-words.ts';
export {
  type ExplainedDecision,
  type ExplainOptions,
  explain,
} from './views/explain.ts';
export { explainText } from './views/explain-text.ts';
export { type Failure, failures } from './views/failures.ts';
export { type RunMermaidOptions, runMermaid } from './views/mermaid.ts';
export {
  type ResumeState,
  type UnansweredCall,
  validateResumeState,
} from './views/resume-state.ts';
export {
  type RunTreeModelCall,
  type RunTreeNode,
  type RunTreeToolCall,
  runTree,
} from './views/run-tree.ts';
export { type TranscriptEntry, transcript, transcriptEntries } from './views/transcript.ts';
