export { InvalidBusEventError } from './base/bus/event-error.ts';
export { AbortReason } from './base/cancel-scope.ts';
export { AdjutantError, errorFromRecord, isAdjutantError } from './base/error.ts';
export { InvalidOptionError } from './base/invalid-option.ts';
export { MissingPackageError } from './base/optional-package.ts';
export { BusClosedError, BusUnavailableError } from './bus/errors.ts';
export { PromptNotFoundError } from './context/recipe.ts';
export { PromptTemplateError } from './context/typed-prompts.ts';
export {
  EffectFailedError,
  EffectUnknownError,
  InvalidEffectError,
} from './effects/body-effect/errors.ts';
export { HookFailedError } from './engine/agent/hooks/errors.ts';
export {
  DuplicateRunnableError,
  HandoffRefusedError,
  InvalidInputError,
  InvalidRunError,
  InvalidRuntimeError,
  InvocationEndedError,
  NoOpenRunError,
  RunnableMismatchError,
  RunStoppedError,
  UnknownRunnableError,
} from './engine/frame/errors.ts';
export { InvalidFactError } from './engine/frame/facts.ts';
export {
  ApprovalTokenError,
  DecisionNotOfferedError,
  InputMismatchError,
  InvalidAnswerError,
  MayNotDecideError,
  OperationAmbiguousError,
  type TokenRefusal,
} from './engine/requests/errors.ts';
export { NotResolvableError } from './engine/run/inbox/resolution.ts';
export { InvalidAdmissionError } from './engine/run/lifecycle.ts';
export { NotReopenableError } from './engine/run/reopen.ts';
export { ReservedSessionError } from './engine/services/errors.ts';
export {
  InvalidTaskError,
  TaskEndedError,
  TaskNotFoundError,
  WouldDeadlockError,
} from './engine/tasks/errors.ts';
export { RequestNotFoundError, RequestSettledError } from './ledger/errors/request-errors.ts';
export {
  InvalidCursorError,
  SeqOutOfRangeError,
  SessionBusyError,
  SessionDeletedError,
  SessionExistsError,
  SessionGoneError,
  SessionNotFoundError,
  TextSearchUnavailableError,
} from './ledger/errors/session-errors.ts';
export { StoreTooNewError, StoreUnavailableError } from './ledger/errors/store-errors.ts';
export { KeyBusyError, QueueFullError } from './ledger/errors/turn-errors.ts';
export {
  LedgerConflictError,
  LedgerMismatchError,
  LedgerUnreadableError,
  NotJsonError,
  StateConflictError,
  StateOrderError,
} from './ledger/errors.ts';
export {
  InvalidModelError,
  InvalidModelNameError,
  MissingKeyError,
  ModelError,
} from './models/errors.ts';
export { NotificationFailedError } from './notifications/errors.ts';
export { InvalidDefinitionError } from './runnables/errors.ts';
export { PromptTextError } from './runnables/prompt-text.ts';
export { StateBindingError } from './session/bound-object.ts';
export { InvalidEventError } from './session/draft-check.ts';
export { InvalidStateError, UndeclaredScopeError } from './session/scoped-state.ts';
export { MessagePartError } from './session/user-parts.ts';
export { DuplicateToolError, InvalidToolError } from './tools/errors.ts';
export { InvalidTriggerError } from './triggers/errors.ts';
export {
  TriggerNotFoundError,
  TriggerStateError,
  WebhookRefusedError,
} from './triggers/service/errors.ts';
