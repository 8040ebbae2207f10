import { AdjutantError, isAdjutantError, type JsonObject } from 'adjutant';
import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** An answer that says what went wrong, as RFC 9457 has it. */
export interface Problem {
  /** Names the kind of problem; the same for the same `code`. */
  readonly type: string;
  /** What the code means, in a few words. */
  readonly title: string;
  readonly status: number;
  /** What was wrong, where, and what to do. */
  readonly detail: string;
  /** Stable: switch on this. */
  readonly code: string;
  /** The request, for the operator's log. */
  readonly instance?: string;
  /** What the error carries besides. */
  readonly data?: JsonObject;
}

/** A request that is refused; its code and data become the problem's. */
export class RequestRefusedError extends AdjutantError {
  readonly status: ContentfulStatusCode;
  /** Headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: ContentfulStatusCode, code: string, message: string, data: JsonObject = {}, headers: Readonly<Record<string, string>> = {}) {
    super(code, message, data);
    this.status = status;
    this.headers = headers;
  }
}

/** Statuses of the core's errors; every other error of a request's own is 400, and every other error 500. */
const statusOfCode: Readonly<Record<string, ContentfulStatusCode>> = {
  session_not_found: 404,
  request_not_found: 404,
  unknown_runnable: 404,
  session_exists: 409,
  session_busy: 409,
  session_deleted: 410,
  request_settled: 409,
  operation_ambiguous: 409,
  ledger_conflict: 409,
  state_conflict: 409,
  no_open_run: 409,
  may_not_decide: 403,
  ledger_mismatch: 409,
  not_reopenable: 409,
  store_unavailable: 503,
  store_too_new: 500,
  ledger_unreadable: 500,
  run_stopped: 503,
};

/** The core's errors that the caller's input is the reason of. */
const inputCodes: ReadonlySet<string> = new Set([
  'invalid_run',
  'invalid_answer',
  'invalid_cursor',
  'invalid_input',
  'invalid_option',
  'input_mismatch',
  'decision_not_offered',
  'not_json',
  'seq_out_of_range',
  'approval_token',
  'invalid_state',
]);

/** Media type of problems. */
export const problemType = 'application/problem+json';

/** The status that an error of the runtime answers with. */
export function statusOf(error: unknown): ContentfulStatusCode {
  if (error instanceof RequestRefusedError) return error.status;
  if (!isAdjutantError(error)) return 500;
  return statusOfCode[error.code] ?? (inputCodes.has(error.code) ? 400 : 500);
}

/** What a caller is told of an error. Of what went wrong inside, only that it did, and the request's id. */
export function problemOf(error: unknown, requestId: string): Problem {
  const status = statusOf(error);
  const instance = `urn:adjutant:request:${requestId}`;
  const isInside = status >= 500 && !(error instanceof RequestRefusedError);
  if (isInside || !isAdjutantError(error)) {
    const code = status === 503 && isAdjutantError(error) ? error.code : 'internal_error';
    const detail =
      status === 503
        ? 'The store or the process is not available now. Try again.'
        : `Something went wrong inside. The server's log has it under "${requestId}".`;
    return { type: typeOf(code), title: titleOf(code), status, detail, code, instance };
  }
  const { code, message, data } = error;
  return { type: typeOf(code), title: titleOf(code), status, detail: message, code, instance, ...(Object.keys(data).length > 0 ? { data } : {}) };
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
  const headers = error instanceof RequestRefusedError ? error.headers : {};
  return new Response(JSON.stringify(problem), { status: problem.status, headers: { ...headers, 'content-type': problemType } });
}
