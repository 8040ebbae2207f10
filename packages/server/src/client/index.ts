export { Approvals, Operations } from './approvals.ts';
export type { RetryOptions } from './back-off.ts';
export { type AdjutantClient, client } from './client.ts';
export { ConnectionLostError, InvalidClientError, isServerProblem, ServerProblemError, UnexpectedAnswerError } from './errors.ts';
export type { FollowOptions } from './follow.ts';
export { Listing, type Page } from './listing.ts';
export type { ClientOptions } from './options.ts';
export type { ClientPorts } from './ports.ts';
export { type EventOptions, Sessions } from './sessions.ts';
export { noText, type StreamedText, type StreamedTexts, streamedText } from './streamed-text.ts';
export type { CallOptions, WriteOptions } from './transport.ts';
export type {
  Answer,
  AnswerOutcomes,
  BatchAnswers,
  EventPage,
  EventQuery,
  Link,
  LinkOptions,
  NewFork,
  NewMessage,
  NewSession,
  OperationResult,
  RequestListQuery,
  ServerRequest,
  ServerSession,
  ServerSessionDetails,
  SessionListQuery,
  SessionState,
  TranscriptEntries,
} from './types.ts';
