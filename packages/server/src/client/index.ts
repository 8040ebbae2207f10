export { Approvals, Operations } from './approvals.ts';
export type { ReconnectOptions } from './back-off.ts';
export { type ChatAddress, Chats, chatFetch, isWaiting, type WatchOptions } from './chats.ts';
export { type AdjutantClient, type Agents, client, type UsageOfModels } from './client.ts';
export {
  ConnectionLostError,
  InvalidClientError,
  isServerProblem,
  ServerProblemError,
  UnexpectedAnswerError,
} from './errors.ts';
export { Evals } from './evals/evals.ts';
export type { FollowOptions } from './follow.ts';
export { Audit, Keys } from './keys.ts';
export { Listing, type Page } from './listing.ts';
export { type FollowedNotice, Notices } from './notices.ts';
export type { ClientOptions } from './options.ts';
export type { ClientPorts } from './ports.ts';
export { RunHandle } from './run-handle.ts';
export { Runs, type WaitOptions } from './runs.ts';
export type { SessionChange } from './session-changes.ts';
export { type EventOptions, Sessions } from './sessions.ts';
export { noText, type StreamedText, type StreamedTexts, streamedText } from './streamed-text.ts';
export { type TaskControl, Tasks } from './tasks.ts';
export type { CallOptions, WriteOptions } from './transport.ts';
export { type TriggerControl, Triggers } from './triggers.ts';
export type {
  Answer,
  AnswerOutcomes,
  AuditEntry,
  AuditQuery,
  BatchAnswers,
  ChatMessages,
  DecisionPage,
  DecisionQuery,
  EvalComparison,
  EvalComparisonQuery,
  EvalDetails,
  EvalQuery,
  EventPage,
  EventQuery,
  ExplanationQuery,
  FailurePage,
  FailureQuery,
  Health,
  IssuedServerKey,
  KeptEval,
  KeyRotation,
  Link,
  LinkOptions,
  Me,
  Moment,
  MomentQuery,
  NewFork,
  NewKey,
  NewMessage,
  NewNotice,
  NewPublishedEvent,
  NewRun,
  NewSession,
  NewTask,
  NewTrigger,
  NoticeListQuery,
  OperationResult,
  Outline,
  OutlineQuery,
  Readiness,
  Reopening,
  RequestListQuery,
  RunExplanation,
  RunListQuery,
  ServerAgent,
  ServerKey,
  ServerNotice,
  ServerPrompt,
  ServerReplay,
  ServerReplayOptions,
  ServerRequest,
  ServerRun,
  ServerRunOutline,
  ServerSession,
  ServerSessionDetails,
  ServerTask,
  ServerTaskExplanation,
  ServerTaskPriority,
  ServerTaskState,
  ServerTrigger,
  ServerTriggerHistoryEntry,
  ServerTriggerStatus,
  SessionDifference,
  SessionListQuery,
  SessionState,
  SessionTree,
  SessionUsage,
  StartedServerRun,
  SubmittedServerTask,
  TaskListQuery,
  ToldOutcome,
  ToolUsagePage,
  TranscriptEntries,
  TreeQuery,
  TriggerChange,
  TriggerListQuery,
  TriggerSchedule,
  UsagePage,
  UsageQuery,
} from './types.ts';
