import { AdjutantError, isAdjutantError, type JsonObject } from 'adjutant';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { statusOfCode } from './error-statuses.ts';

/** An answer that says what went wrong, as RFC 9457 has it. */
export interface Problem {
  /** Names the kind of problem; the same for the same `code`. */
  readonly type: string;
  /** Meaning of the code in a few words. */
  readonly title: string;
  readonly status: number;
  /** Description of the fault, its place and its remedy. */
  readonly detail: string;
  /** Stable: switch on this. */
  readonly code: string;
  /** The request, for the operator's log. */
  readonly instance?: string;
  /** Data of the error. */
  readonly data?: JsonObject;
}

/** A request that is refused; its code and data become the problem's. */
export class RequestRefusedError extends AdjutantError<string> {
  readonly status: ContentfulStatusCode;
  /** Headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: ContentfulStatusCode,
    code: string,
    message: string,
    data: JsonObject = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(code, message, data);
    this.status = status;
    this.headers = headers;
  }
}

/** Media type of problems. */
export const problemType = 'application/problem+json';

/** The status that an error answers with. */
export function statusOf(error: unknown): ContentfulStatusCode {
  if (error instanceof RequestRefusedError) return error.status;
  if (!isAdjutantError(error) || !Object.hasOwn(statusOfCode, error.code)) return 500;
  return statusOfCode[error.code] ?? 500;
}

/** Returns what is thrown as a refusal of this server, if it is one. */
export function asRefused(thrown: unknown): unknown {
  if (thrown instanceof HTTPException) return refusalOf(thrown);
  const isFull = isAdjutantError(thrown, 'store_unavailable') && thrown.data['full'] === true;
  return isFull ? storeFull() : thrown;
}

/** Seconds after which a process may have room again. */
const retryAfterSeconds = 2;

/** Refusal of a request for which this process has no room now. */
export function overloaded(reason: string): RequestRefusedError {
  return new RequestRefusedError(
    503,
    'overloaded',
    `The server has more to do than it can hold: ${reason}. Nothing was done; try again in ` +
      `${retryAfterSeconds} s.`,
    { reason },
    { 'retry-after': String(retryAfterSeconds) },
  );
}

/** Seconds after which a disk may have room again. */
const fullRetrySeconds = 10;

/** Refusal of a write because the disk of the store is full. */
export function storeFull(): RequestRefusedError {
  return new RequestRefusedError(
    503,
    'store_full',
    'The disk of the store is full, so nothing can be written; reading goes on. Try again ' +
      'when an operator has made room: the server finds it by itself.',
    {},
    { 'retry-after': String(fullRetrySeconds) },
  );
}

/** Translates a refusal of the libraries below into the words of this server. */
function refusalOf(error: HTTPException): RequestRefusedError {
  switch (error.status) {
    case 400:
      return new RequestRefusedError(
        400,
        'malformed_json',
        'The body is not JSON, though its content type says so. Send a JSON value in UTF-8.',
      );
    case 415:
      return new RequestRefusedError(
        415,
        'unsupported_media_type',
        'This route takes JSON only. Send the body with "content-type: application/json".',
      );
    default:
      return new RequestRefusedError(error.status, 'request_refused', 'The request is refused.');
  }
}

/**
 * Returns the problem that a caller receives for an error. An internal fault shows only its code,
 * if that is listed, and the id of the request.
 */
export function problemOf(error: unknown, requestId: string): Problem {
  const status = statusOf(error);
  const instance = `urn:adjutant:request:${requestId}`;
  const isInside = status >= 500 && !(error instanceof RequestRefusedError);
  if (isInside || !isAdjutantError(error)) {
    const isListed = isAdjutantError(error) && Object.hasOwn(statusOfCode, error.code);
    const code = isListed ? error.code : 'internal_error';
    const what = isListed ? 'What is stored cannot be used' : 'Something went wrong inside';
    const detail =
      status === 503
        ? 'The store or the process is not available now. Try again.'
        : `${what}. The server's log has it under "${requestId}".`;
    return { type: typeOf(code), title: titleOf(code), status, detail, code, instance };
  }
  const { code, message, data } = error;
  return {
    type: typeOf(code),
    title: titleOf(code),
    status,
    detail: message,
    code,
    instance,
    ...(Object.keys(data).length > 0 ? { data } : {}),
  };
}

function typeOf(code: string): string {
  return `urn:adjutant:error:${code}`;
}

/** `session_not_found` → `Session not found`. */
function titleOf(code: string): string {
  const words = code.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A problem as a response. */
export function problemResponse(error: unknown, requestId: string): Response {
  const problem = problemOf(error, requestId);
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { ...headersOf(error, problem), 'content-type': problemType },
  });
}

/** Seconds after which a full queue may have room, where the queue itself does not say. */
const queueRetrySeconds = 5;

function headersOf(error: unknown, { status }: Problem): Readonly<Record<string, string>> {
  if (error instanceof RequestRefusedError) return error.headers;
  if (status === 503) return { 'retry-after': '1' };
  if (!isAdjutantError(error, 'queue_full')) return {};
  const ms = error.data['retryAfterMs'];
  const seconds = typeof ms === 'number' ? Math.max(1, Math.ceil(ms / 1_000)) : queueRetrySeconds;
  return { 'retry-after': String(seconds) };
}
