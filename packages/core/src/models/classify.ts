import { defined } from '../base/defined.ts';
import { isAdjutantError } from '../base/error.ts';
import type { ModelErrorClass, ModelErrorKind } from './error-kind.ts';
import { ModelError } from './errors.ts';
import { saysContextOverflow, saysLargerThanRate } from './measures/context-overflow.ts';

/**
 * Fields of the errors of the AI SDK, of `fetch` and of streamed error frames. Each may be missing.
 */
interface ErrorFields {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly status?: unknown;
  readonly statusCode?: unknown;
  readonly isRetryable?: unknown;
  readonly responseHeaders?: unknown;
  readonly responseBody?: unknown;
  readonly lastError?: unknown;
  readonly cause?: unknown;
}

const retryableKinds: ReadonlySet<ModelErrorKind> = new Set([
  'rate_limit',
  'overloaded',
  'server',
  'connection',
  'timeout',
  'malformed',
]);

/**
 * Classifies an error that a model call threw or streamed, by the possible reactions.
 * @param now epoch milliseconds, for a `retry-after` that names a date; without it, such a date is
 * ignored, unless the response has the time of its server
 */
export function classifyModelError(error: unknown, now?: number): ModelErrorClass {
  if (typeof error !== 'object' || error === null) return byText(String(error)) ?? of('unknown');
  if (isAdjutantError(error)) return classifyOwnError(error, now);
  const fields = error as ErrorFields;
  if (fields.lastError !== undefined) return classifyModelError(fields.lastError, now);
  const abort = classifyAbort(fields);
  if (abort !== undefined) return abort;
  const status = httpStatus(fields);
  if (status !== undefined && status >= 400) return classifyResponse(status, fields, now);
  // The AI SDK calls an error without a status retryable when the request did not get through.
  return (
    classifyByName(fields) ??
    classifyNetworkError(error) ??
    classifyFrame(fields) ??
    of(fields.isRetryable === true ? 'connection' : 'unknown')
  );
}

function of(kind: ModelErrorKind, retryable = retryableKinds.has(kind)): ModelErrorClass {
  return { kind, retryable };
}

function classifyOwnError(
  error: Error & { code: string },
  now: number | undefined,
): ModelErrorClass {
  if (error instanceof ModelError) {
    const { kind, retryable, retryAfterMs, status } = error;
    return {
      kind,
      retryable,
      ...defined({ retryAfterMs, status }),
    };
  }
  switch (error.code) {
    case 'missing_key':
    case 'missing_package':
      return of(error.code);
    case 'invalid_model':
    case 'invalid_model_name':
      return of('invalid_request');
    case 'model_stream_cut':
      return of('connection');
    case 'model_stream_error':
      return error.cause === undefined
        ? of('malformed')
        : orElse(classifyModelError(error.cause, now), 'server');
    default:
      return of('unknown');
  }
}

function orElse(found: ModelErrorClass, kind: ModelErrorKind): ModelErrorClass {
  return found.kind === 'unknown' ? of(kind) : found;
}

/** Classifies an abort. The code of an `AbortReason` marks a time limit. */
function classifyAbort({ name, code }: ErrorFields): ModelErrorClass | undefined {
  if (name === 'TimeoutError' || (name === 'AbortError' && code === 'timeout'))
    return of('timeout');
  return name === 'AbortError' || name === 'ResponseAborted' ? of('aborted') : undefined;
}

function httpStatus(fields: ErrorFields): number | undefined {
  for (const status of [fields.statusCode, fields.status]) {
    if (typeof status === 'number') return status;
  }
  return undefined;
}

function classifyResponse(
  status: number,
  fields: ErrorFields,
  now: number | undefined,
): ModelErrorClass {
  const text =
    `${String(fields.code ?? '')} ${String(fields.type ?? '')} ` +
    `${String(fields.message ?? '')} ${String(fields.responseBody ?? '')}`;
  const retryAfterMs = readRetryAfter(fields, text, now);
  const found = byStatus(status, text);
  return {
    ...found,
    status,
    ...(retryAfterMs === undefined || !found.retryable ? {} : { retryAfterMs }),
  };
}

function byStatus(status: number, text: string): ModelErrorClass {
  if (status === 401 || status === 403)
    return /content.?(filter|policy)/i.test(text) ? of('content_filter') : of('auth');
  if (status === 404) return of('model_not_found');
  if (status === 408) return of('timeout');
  if (status === 409) return of('server');
  if (status === 429) return of('rate_limit', !spentQuota.test(text) && !saysLargerThanRate(text));
  // Groq answers so to a request that is larger than its limit of tokens per minute.
  if (status === 413)
    return saysLargerThanRate(text) ? of('rate_limit', false) : of('context_overflow');
  // llama.cpp and LM Studio answer with 500 to a prompt that is too long.
  if (saysContextOverflow(text)) return of('context_overflow');
  if (status === 503 || status === 529) return of('overloaded');
  if (status === 504) return of('timeout');
  if (status >= 500) return /overloaded/i.test(text) ? of('overloaded') : of('server');
  const found = byText(text);
  return found !== undefined && !found.retryable ? found : of('invalid_request');
}

const spentQuota = new RegExp(
  [
    'insufficient_quota|exceeded your current quota, please check your plan',
    'billing_error|credit balance',
  ].join('|'),
  'i',
);

/** Words that providers use in bodies and in streamed errors; the first match counts. */
const words: readonly (readonly [RegExp, ModelErrorKind])[] = [
  [
    new RegExp(
      [
        'content_filter|content_policy|content management policy',
        'responsible ?ai ?policy|safety system|PROHIBITED_CONTENT',
      ].join('|'),
      'i',
    ),
    'content_filter',
  ],
  [
    new RegExp(
      [
        'API_KEY_INVALID|api key not valid|invalid_api_key|incorrect api key',
        'authentication_error|permission_error|PERMISSION_DENIED|UNAUTHENTICATED',
      ].join('|'),
      'i',
    ),
    'auth',
  ],
  [/model_not_found|DeploymentNotFound|not_found_error/i, 'model_not_found'],
  [/overloaded|UNAVAILABLE/i, 'overloaded'],
  [/rate_limit|too many requests|RESOURCE_EXHAUSTED/i, 'rate_limit'],
  [/timeout_error|DEADLINE_EXCEEDED|timed out/i, 'timeout'],
  [/invalid_request_error|INVALID_ARGUMENT|FAILED_PRECONDITION/i, 'invalid_request'],
  [/server_error|api_error|internal error|internal server error|\bINTERNAL\b/i, 'server'],
];

function byText(text: string): ModelErrorClass | undefined {
  if (spentQuota.test(text) || saysLargerThanRate(text)) return of('rate_limit', false);
  if (saysContextOverflow(text)) return of('context_overflow');
  const found = words.find(([pattern]) => pattern.test(text));
  return found === undefined ? undefined : of(found[1]);
}

const kindOfName: { readonly [name: string]: ModelErrorKind } = {
  AI_LoadAPIKeyError: 'missing_key',
  AI_LoadSettingError: 'missing_key',
  AI_JSONParseError: 'malformed',
  AI_TypeValidationError: 'malformed',
  AI_InvalidResponseDataError: 'malformed',
  AI_EmptyResponseBodyError: 'malformed',
  AI_NoContentGeneratedError: 'malformed',
  AI_NoSuchModelError: 'model_not_found',
  AI_InvalidPromptError: 'invalid_request',
  AI_InvalidArgumentError: 'invalid_request',
  AI_UnsupportedFunctionalityError: 'invalid_request',
};

function classifyByName({ name }: ErrorFields): ModelErrorClass | undefined {
  const kind = typeof name === 'string' ? kindOfName[name] : undefined;
  return kind === undefined ? undefined : of(kind);
}

const timeoutCodes: ReadonlySet<unknown> = new Set([
  'ETIMEDOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const connectionCode = new RegExp(
  [
    '^(ECONN(REFUSED|RESET|ABORTED)|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH',
    String.raw`ENETUNREACH|UND_ERR_(SOCKET|CLOSED|DESTROYED))$`,
  ].join('|'),
  '',
);

/**
 * Looks for a system error code along the chain of causes; fetch wraps it once, providers wrap that
 * again.
 */
function classifyNetworkError(error: unknown): ModelErrorClass | undefined {
  let current: unknown = error;
  for (let depth = 0; depth < 6 && typeof current === 'object' && current !== null; depth++) {
    const { code, name, message, cause } = current as ErrorFields;
    if (timeoutCodes.has(code)) return of('timeout');
    if (typeof code === 'string' && connectionCode.test(code)) return of('connection');
    if (
      current instanceof TypeError &&
      /^(fetch failed|failed to fetch|terminated|network error)$/i.test(String(message))
    ) {
      return cause === undefined
        ? of('connection')
        : (classifyNetworkError(cause) ?? of('connection'));
    }
    if (depth > 0 && typeof name === 'string' && kindOfName[name] !== undefined)
      return classifyByName(current as ErrorFields);
    if (depth > 0) {
      const abort = classifyAbort(current as ErrorFields);
      if (abort !== undefined) return abort;
    }
    current = cause;
  }
  return undefined;
}

/**
 * An error that a provider sent inside the stream: `{ type, code, message }` in one of many shapes.
 */
function classifyFrame(fields: ErrorFields): ModelErrorClass | undefined {
  const text = [fields.type, fields.code, fields.status, fields.message, fields.responseBody]
    .filter((part) => typeof part === 'string')
    .join(' ');
  return text === '' ? undefined : byText(text);
}

/**
 * `retry-after-ms`, `retry-after` in seconds or as a date, or the `retryDelay` that Gemini puts
 * into the body.
 */
function readRetryAfter(
  { responseHeaders }: ErrorFields,
  text: string,
  ownNow: number | undefined,
): number | undefined {
  const headers = (responseHeaders ?? {}) as { readonly [name: string]: string | undefined };
  const inMs = Number.parseFloat(headers['retry-after-ms'] ?? '');
  if (inMs >= 0) return Math.round(inMs);
  const retryAfter = headers['retry-after'];
  if (retryAfter !== undefined) {
    if (/^\s*[\d.]+\s*$/.test(retryAfter))
      return Math.min(Math.round(Number.parseFloat(retryAfter) * 1_000), Number.MAX_SAFE_INTEGER);
    const at = Date.parse(retryAfter);
    // The clock of the server, if it is sent, avoids the difference between the clocks.
    const serverNow = Date.parse(headers['date'] ?? '');
    const now = Number.isNaN(serverNow) ? ownNow : serverNow;
    if (now !== undefined && !Number.isNaN(at)) return Math.max(0, at - now);
  }
  const inBody = /"retryDelay"\s*:\s*"([\d.]+)s"/.exec(text)?.[1];
  return inBody === undefined ? undefined : Math.round(Number.parseFloat(inBody) * 1_000);
}
