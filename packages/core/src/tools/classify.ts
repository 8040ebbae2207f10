import { type AdjutantError, isAdjutantError } from '../base/error.ts';
import { coerceToJson } from '../base/json.ts';
import type { ToolEffect, ToolResult, ToolResultStatus } from '../ledger/tool-result.ts';
import { type ClassifyThrown, type DeclaredFailure, ToolFailure } from './errors.ts';
import {
  aborted,
  type FailureKind,
  httpFailure,
  networkError,
  refusedByValidation,
  systemFailure,
  timedOut,
  toolError,
  unreadableJson,
} from './failure-kinds.ts';
import { isToolResult, toolResultWith, toToolResult } from './result.ts';

/**
 * The meaning of a thrown value: for the model, for its effect outside, and for when to try again.
 */
export interface ThrownClassification {
  readonly result: ToolResult;
  readonly effect: ToolEffect;
  readonly retryAfterMs?: number;
}

/** Depth to which causes and bundled errors are followed. */
const deepest = 5;
const longestContent = 2_000;
const longestDetail = 4_000;

/**
 * Classifies a value thrown by a tool: the result that the model gets, and the knowledge of its
 * effect. Searched in this order, in the error and then in its causes: a `ToolFailure`, an HTTP
 * status, a system code, a name. An error without any of these is the tool's own statement that it
 * failed: `tool_error`, effect `none`.
 * @param now epoch milliseconds, for a `Retry-After` that names a date; without it, such a date is
 * ignored
 * @param own classification by the tool itself; ignored when it throws, or returns neither a
 * failure nor a result
 */
export function classifyThrown(
  thrown: unknown,
  now?: number,
  own?: ClassifyThrown,
): ThrownClassification {
  try {
    return (own === undefined ? undefined : classifyByTool(thrown, own)) ?? classify(thrown, now);
  } catch {
    // Getters and proxies may throw when they are looked at.
    return {
      result: resultOf(toolError, 'The tool threw a value that cannot be read.', undefined),
      effect: 'none',
    };
  }
}

function classifyByTool(thrown: unknown, own: ClassifyThrown): ThrownClassification | undefined {
  let said: unknown;
  try {
    said = own(thrown);
  } catch {
    return undefined;
  }
  if (isDeclaredFailure(said)) return ofDeclaredFailure(said);
  if (!isToolResult(said)) return undefined;
  const result = toToolResult(said);
  return {
    result,
    effect: result.status === 'timeout' || result.status === 'unknown' ? 'unknown' : 'none',
  };
}

function classify(thrown: unknown, now: number | undefined): ThrownClassification {
  if (isDeclaredFailure(thrown)) return ofDeclaredFailure(thrown);
  if (!isObject(thrown))
    return { result: resultOf(toolError, describeNonError(thrown), undefined), effect: 'none' };
  const signature = isAdjutantError(thrown) ? undefined : findSignature(thrown, 0);
  const kind = signature?.kind ?? (isAdjutantError(thrown) ? ofAdjutant(thrown.code) : toolError);
  const retryAfterMs = retryAfterOf(signature?.source ?? thrown, now);
  return {
    result: resultOf(kind, contentOf(thrown, signature), detailOf(thrown, signature === undefined)),
    effect: kind.effect,
    ...(retryAfterMs === undefined ? undefined : { retryAfterMs }),
  };
}

/**
 * Returns the kind of an error of this package. An effect of unknown outcome leaves the whole call
 * of unknown outcome.
 */
function ofAdjutant(code: string): FailureKind {
  if (code === 'invalid_input') return refusedByValidation;
  return code === 'effect_unknown'
    ? { status: 'unknown', errorType: code, effect: 'unknown' }
    : { ...toolError, errorType: code };
}

/** True for a failure that says what it means, also of another copy of the package. */
function isDeclaredFailure(thrown: unknown): thrown is AdjutantError & DeclaredFailure {
  return (
    thrown instanceof ToolFailure ||
    isAdjutantError(thrown, 'tool_failure') ||
    isAdjutantError(thrown, 'notification_failed')
  );
}

function ofDeclaredFailure(failure: DeclaredFailure): ThrownClassification {
  const { errorType, effect = 'none', retryAfterMs, alternatives = [] } = failure;
  const content = shortened(failure.message || 'The tool failed.', longestContent);
  const detail = failure.cause === undefined ? undefined : detailOf(failure, false);
  const result = toolResultWith(statusOf(failure), content, {
    errorType,
    ...(detail === undefined ? undefined : { detail }),
    ...(alternatives.length > 0 ? { alternatives } : undefined),
    ...(Object.keys(failure.data).length > 0 ? { metadata: failure.data } : undefined),
  });
  return { result, effect, ...(retryAfterMs === undefined ? undefined : { retryAfterMs }) };
}

function statusOf({ status, errorType, effect, retryAfterMs }: DeclaredFailure): ToolResultStatus {
  if (status !== undefined) return status;
  const httpStatus = /^http_([45]\d\d)$/.exec(errorType)?.[1];
  if (httpStatus !== undefined) return httpFailure(Number(httpStatus)).status;
  if (errorType === 'timeout') return 'timeout';
  if (effect === 'unknown') return 'unknown';
  return retryAfterMs === undefined ? 'error_permanent' : 'error_transient';
}

interface Signature {
  readonly kind: FailureKind;
  readonly source: object;
}

function findSignature(error: object, depth: number): Signature | undefined {
  if (depth > deepest) return undefined;
  const kind = ownSignature(error);
  if (kind !== undefined) return { kind, source: error };
  const { errors, cause } = error as { errors?: unknown; cause?: unknown };
  const bundled =
    error instanceof AggregateError && Array.isArray(errors)
      ? signatureOfBundle(errors, depth)
      : undefined;
  const caused = isObject(cause) ? findSignature(cause, depth + 1) : undefined;
  const found = bundled ?? caused;
  return found ?? (isFetchFailure(error) ? { kind: networkError, source: error } : undefined);
}

/** Returns the signature of the error that leaves most open: it stands for all. */
function signatureOfBundle(errors: readonly unknown[], depth: number): Signature | undefined {
  const found = errors
    .slice(0, 20)
    .flatMap((error) => (isObject(error) ? (findSignature(error, depth + 1) ?? []) : []));
  return found.find(({ kind }) => kind.effect === 'unknown') ?? found[0];
}

function ownSignature(error: object): FailureKind | undefined {
  const status = httpStatusOf(error);
  if (status !== undefined) return httpFailure(status);
  const { code, name, syscall } = error as { code?: unknown; name?: unknown; syscall?: unknown };
  const bySystem = typeof code === 'string' ? systemFailure(code, syscall) : undefined;
  if (bySystem !== undefined) return bySystem;
  if (name === 'AbortError') return aborted;
  if (name === 'TimeoutError') return timedOut;
  if (name === 'ZodError' || name === '$ZodError' || name === 'ValidationError')
    return refusedByValidation;
  if (error instanceof SyntaxError && /JSON/.test(error.message)) return unreadableJson;
  return undefined;
}

function httpStatusOf(error: object): number | undefined {
  const { status, statusCode, response } = error as {
    status?: unknown;
    statusCode?: unknown;
    response?: unknown;
  };
  const ofResponse = isObject(response)
    ? (response as { status?: unknown; statusCode?: unknown })
    : {};
  return [status, statusCode, ofResponse.status, ofResponse.statusCode].find(isHttpFailure);
}

function isHttpFailure(status: unknown): status is number {
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599;
}

/** True for an error of Node's fetch, which says no more than this when the cause is unknown. */
function isFetchFailure(error: object): boolean {
  return (
    error instanceof TypeError &&
    (error.message === 'fetch failed' || error.message === 'terminated')
  );
}

function retryAfterOf(error: object, now: number | undefined): number | undefined {
  const { retryAfterMs, headers, responseHeaders, response } = error as Record<string, unknown>;
  if (typeof retryAfterMs === 'number' && retryAfterMs >= 0)
    return Math.min(retryAfterMs, Number.MAX_SAFE_INTEGER);
  const ofResponse = isObject(response) ? (response as { headers?: unknown }).headers : undefined;
  for (const candidate of [headers, responseHeaders, ofResponse]) {
    const parsed = parseRetryAfter(headerOf(candidate, 'retry-after'), now);
    if (parsed !== undefined) return parsed;
  }
  return undefined;
}

function headerOf(headers: unknown, name: string): unknown {
  if (!isObject(headers)) return undefined;
  if (headers instanceof Headers || headers instanceof Map) return headers.get(name);
  const key = Object.keys(headers).find((candidate) => candidate.toLowerCase() === name);
  return key === undefined ? undefined : (headers as Record<string, unknown>)[key];
}

/**
 * Returns the milliseconds of a `Retry-After` header: a number of seconds, or a date.
 * @param now epoch milliseconds; without it, a date is ignored
 */
export function parseRetryAfter(value: unknown, now: number | undefined): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value).trim();
  if (/^\d+(\.\d+)?$/.test(text))
    return Math.min(Math.round(Number(text) * 1_000), Number.MAX_SAFE_INTEGER);
  const date = now === undefined ? Number.NaN : Date.parse(text) - now;
  return Number.isNaN(date) ? undefined : Math.max(0, date);
}

const alternativesByErrorType: { readonly [errorType: string]: readonly string[] | undefined } = {
  aborted: ['Find out whether it took effect before doing it again.'],
  timeout: ['Find out whether it took effect before doing it again.', 'Ask for less at a time.'],
};

function resultOf(kind: FailureKind, content: string, detail: string | undefined): ToolResult {
  const alternatives = alternativesByErrorType[kind.errorType];
  return toolResultWith(kind.status, content, {
    errorType: kind.errorType,
    ...(detail === undefined ? undefined : { detail }),
    ...(alternatives === undefined ? undefined : { alternatives }),
  });
}

function contentOf(thrown: object, signature: Signature | undefined): string {
  const message = messageOf(thrown) || messageOf(signature?.source) || withoutMessage(thrown);
  const causeMessage =
    signature !== undefined && signature.source !== thrown ? messageOf(signature.source) : '';
  const whole =
    causeMessage === '' || message.includes(causeMessage) ? message : `${message}: ${causeMessage}`;
  const httpStatus = /^http_(\d+)$/.exec(signature?.kind.errorType ?? '')?.[1];
  return shortened(
    httpStatus === undefined || whole.includes(httpStatus) ? whole : `HTTP ${httpStatus}: ${whole}`,
    longestContent,
  );
}

function withoutMessage(thrown: object): string {
  if (thrown instanceof Error) return `The tool failed with ${thrown.name} and no message.`;
  return (
    'The tool threw a value that is not an Error: ' +
    `${JSON.stringify(coerceToJson(thrown).value)}`
  );
}

function messageOf(error: unknown): string {
  const message = isObject(error) ? (error as { message?: unknown }).message : undefined;
  return typeof message === 'string' ? message : '';
}

/**
 * Returns name, code and message of the error and its causes; for an error of unknown kind also its
 * place.
 */
function detailOf(thrown: object, withStack: boolean): string {
  const lines: string[] = [];
  let error: unknown = thrown;
  for (let depth = 0; isObject(error) && depth <= deepest; depth++) {
    const { name, code, cause } = error as { name?: unknown; code?: unknown; cause?: unknown };
    const label = typeof name === 'string' ? name : 'Object';
    const intro = depth === 0 ? '' : 'caused by ';
    const mark = typeof code === 'string' ? ` [${code}]` : '';
    lines.push(`${intro}${label}${mark}: ${messageOf(error)}`);
    error = cause;
  }
  if (withStack && thrown instanceof Error) lines.push(...stackFrames(thrown));
  return shortened(lines.join('\n'), longestDetail);
}

function stackFrames(error: Error): string[] {
  const frames = String(error.stack ?? '').split('\n');
  return frames.filter((line) => line.startsWith('    at ')).slice(0, 5);
}

function describeNonError(thrown: unknown): string {
  const text = typeof thrown === 'string' ? thrown : String(thrown);
  return shortened(text === '' ? 'The tool threw an empty string.' : text, longestContent);
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
