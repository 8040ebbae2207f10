export { type CliMiddlewareOptions, cliMiddleware } from './cli.ts';
export {
  type LoggingHandlerOptions,
  loggingHandler,
  type RateLimitHandlerOptions,
  type RetryHandlerOptions,
  rateLimitHandler,
  retryHandler,
  type TimeoutHandlerOptions,
  timeoutHandler,
} from './error-handlers.ts';
export { globalInstructions } from './global-instructions.ts';
export {
  type LogEntry,
  type LoggingMiddlewareOptions,
  type LogLevel,
  loggingMiddleware,
} from './logging.ts';
export { type ResponseCacheOptions, responseCache } from './response-cache.ts';
export { type StripThinkTagsOptions, stripThinkTags } from './think-tags.ts';
