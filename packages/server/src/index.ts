export type { ApiKey } from './access/api-key.ts';
export {
  ApiKeyNotFoundError,
  ApiKeyStateError,
  type ApiKeys,
  apiKeys,
  InvalidApiKeyError,
  type IssuedApiKey,
  type KeyChangeOptions,
  type NewApiKey,
  type RotateOptions,
} from './access/api-keys.ts';
export { AuditLostError } from './access/audit/audit-log.ts';
export { KeySetUnavailableError } from './access/jwt.ts';
export type { Permission, Principal, Role } from './access/principal.ts';
export type { LinkOptions } from './http/approval-links.ts';
export type { FailedRequest } from './http/failure-report.ts';
export type { Problem } from './http/problem.ts';
export { RequestRefusedError } from './http/problem.ts';
export { InvalidServerError } from './option-checks.ts';
export type {
  AuthOptions,
  ClaimNames,
  CorsOptions,
  DashboardOptions,
  JwtOptions,
  ServerLimits,
  ServerOptions,
  StreamOptions,
} from './options.ts';
export { UnhandledFailureError } from './process-guard.ts';
export { CannotListenError, type ListeningServer, serve } from './serve.ts';
export type { ProcessGuardMode, ServeOptions, ShutdownOptions } from './serve-options.ts';
export { type AdjutantServer, server } from './server.ts';
export {
  type UiMessages,
  type UiMessagesOptions,
  uiMessages,
} from './stream/ui-message/messages.ts';
export type { UiMessage, UiMessagePart } from './stream/ui-message/ui-message.ts';
