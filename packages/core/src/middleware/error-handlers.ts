import { checkOptions, InvalidOptionError } from '../base/invalid-option.ts';
import { isAnything, isFunction, type OptionChecks } from '../base/options.ts';
import { randomFromSeed } from '../base/random.ts';
import {
  defaultRetry,
  type ResolvedRetry,
  type RetryOptions,
  resolveRetry,
  retryChecks,
  retryDelay,
} from '../base/retry-options.ts';
import type { ErrorAction, ErrorContext, ErrorHandler } from '../runnables/hooks.ts';

export interface RetryHandlerOptions extends RetryOptions {
  /**
   * Attempts in all, those of others included; for tools not more than
   * `supervision.errors.attempts`. @default 3
   */
  readonly attempts?: number;
  /** Milliseconds before the second attempt. @default 500 */
  readonly initialDelayMs?: number;
  /**
   * @default failures that may be over soon: limits of rate, overload, lost connections, timeouts,
   * `error_transient` of tools
   */
  readonly retryable?: (ctx: ErrorContext) => boolean;
}

export interface RateLimitHandlerOptions extends RetryOptions {
  /**
   * Attempts in all. For tools `supervision.errors.attempts`, 3 by default, counts as well.
   * @default 6
   */
  readonly attempts?: number;
  /**
   * Milliseconds before the second attempt when the other side does not say how long to wait.
   * @default 1_000
   */
  readonly initialDelayMs?: number;
}

export interface TimeoutHandlerOptions {
  /** Replacement for the result of a tool or the answer of the model. */
  readonly fallbackResult: unknown;
}

export interface LoggingHandlerOptions {
  /** Receives each error. An error that it throws itself is ignored. */
  readonly onError: (ctx: ErrorContext) => void;
}

const retryHandlerChecks: OptionChecks<RetryHandlerOptions> = {
  ...retryChecks,
  retryable: isFunction,
};
const timeoutChecks: OptionChecks<TimeoutHandlerOptions> = { fallbackResult: isAnything };
const loggingChecks: OptionChecks<LoggingHandlerOptions> = { onError: isFunction };

const defaultHandlerRetry: ResolvedRetry = {
  ...defaultRetry,
  initialDelayMs: 500,
  maxDelayMs: 60_000,
};
const defaultRateLimitRetry: ResolvedRetry = {
  ...defaultRetry,
  attempts: 6,
  maxDelayMs: 60_000,
};
const pass: ErrorAction = Object.freeze({ action: 'pass' });

const passing: ReadonlySet<string> = new Set([
  'model_rate_limit',
  'model_overloaded',
  'model_server',
  'model_connection',
  'model_timeout',
  'model_malformed',
]);

function mayBeOverSoon({ phase, error, result }: ErrorContext): boolean {
  return phase === 'model'
    ? passing.has(error.code)
    : result?.status === 'error_transient' || result?.status === 'timeout';
}

function isRateLimit({ error }: ErrorContext): boolean {
  return (
    error.code === 'http_429' || error.code === 'model_rate_limit' || error.code === 'rate_limit'
  );
}

/** A call with an unknown effect has to say so, whatever its name. */
function isTimeout({ error, result }: ErrorContext): boolean {
  if (result !== undefined)
    return result.status === 'timeout' || (error.code === 'timeout' && result.status !== 'unknown');
  return error.code === 'model_timeout' || error.code === 'timeout';
}

/**
 * Returns the delay that a handler chooses itself. Its jitter depends on the failed attempt alone,
 * so a replay waits as long as the recorded run.
 */
function ownDelay(retry: ResolvedRetry, ctx: ErrorContext): number {
  const { session, invocationId, round, call, attempt } = ctx;
  const failed = [session?.id, invocationId, round, call?.callId, attempt, 'retry'];
  return retryDelay(retry, Math.max(1, attempt), () => randomFromSeed(failed.join('\n')));
}

/**
 * Repeats failed attempts, except those that might have an effect twice. @throws InvalidOptionError
 */
export function retryHandler(options: RetryHandlerOptions = {}): ErrorHandler {
  checkOptions('retryHandler', options, retryHandlerChecks);
  const { retryable = mayBeOverSoon } = options;
  const retry = resolveRetry(options, defaultHandlerRetry);
  return Object.freeze({
    name: 'retryHandler',
    handle: (ctx: ErrorContext): ErrorAction => {
      if (!ctx.mayRetry || ctx.attempt >= retry.attempts || !retryable(ctx)) return pass;
      return {
        action: 'retry',
        delayMs: Math.max(ctx.retryAfterMs ?? 0, ownDelay(retry, ctx)),
      };
    },
  });
}

/**
 * Repeats attempts that came too fast (HTTP 429), after the wait that the other side asks for.
 * @throws InvalidOptionError
 */
export function rateLimitHandler(options: RateLimitHandlerOptions = {}): ErrorHandler {
  checkOptions('rateLimitHandler', options, retryChecks);
  const retry = resolveRetry(options, defaultRateLimitRetry);
  return Object.freeze({
    name: 'rateLimitHandler',
    canHandle: isRateLimit,
    handle: (ctx: ErrorContext): ErrorAction =>
      ctx.mayRetry && ctx.attempt < retry.attempts
        ? { action: 'retry', delayMs: ctx.retryAfterMs ?? ownDelay(retry, ctx) }
        : pass,
  });
}

/** Puts a result in the place of one that took too long. @throws InvalidOptionError */
export function timeoutHandler(options: TimeoutHandlerOptions): ErrorHandler {
  checkOptions('timeoutHandler', options, timeoutChecks);
  const { fallbackResult } = options;
  if (fallbackResult === undefined)
    throw new InvalidOptionError({
      function: 'timeoutHandler',
      reason: '`fallbackResult` is needed',
    });
  return Object.freeze({
    name: 'timeoutHandler',
    canHandle: isTimeout,
    handle: (): ErrorAction => ({ action: 'fallback', result: fallbackResult }),
  });
}

/**
 * Passes every error to a function; the handlers behind it still decide. @throws InvalidOptionError
 */
export function loggingHandler(options: LoggingHandlerOptions): ErrorHandler {
  checkOptions('loggingHandler', options, loggingChecks);
  const { onError } = options;
  if (onError === undefined)
    throw new InvalidOptionError({ function: 'loggingHandler', reason: '`onError` is needed' });
  return Object.freeze({
    name: 'loggingHandler',
    handle: async (ctx: ErrorContext): Promise<ErrorAction> => {
      try {
        await onError(ctx);
      } catch {
        // A log that cannot be written is no reason to treat the error otherwise.
      }
      return pass;
    },
  });
}
