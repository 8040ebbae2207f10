import type { JsonObject } from 'adjutant';
import type { Problem } from '../http/problem.ts';

/**
 * The server has refused a request, or failed at it. Switch on `code`, which is that of the error
 * on the server.
 */
export class ServerProblemError extends Error {
  /**
   * Stable, such as `session_not_found`; `http_<status>` for an answer that is not one of
   * Adjutant's.
   */
  readonly code: string;
  readonly status: number;
  /** Description of the fault, its place and its remedy. Also the message. */
  readonly detail: string;
  readonly data: JsonObject;
  /** Names the request in the server's log. */
  readonly instance: string | undefined;
  /** Milliseconds after which the server wants to be asked again, if it said so. */
  readonly retryAfterMs: number | undefined;

  constructor(
    problem: Pick<Problem, 'code' | 'status' | 'detail' | 'data' | 'instance'>,
    retryAfterMs?: number,
  ) {
    super(problem.detail);
    this.name = 'ServerProblemError';
    this.code = problem.code;
    this.status = problem.status;
    this.detail = problem.detail;
    this.data = problem.data ?? {};
    this.instance = problem.instance;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The server could not be reached, or did not answer, for as long as the client was to try. */
export class ConnectionLostError extends Error {
  readonly code = 'connection_lost';
  readonly url: string;
  /** Of a stream: the last event that came; `after` of the next one. */
  readonly after: number | undefined;

  constructor(
    {
      url,
      triedFor,
      after,
    }: { readonly url: string; readonly triedFor: number; readonly after?: number | undefined },
    options?: ErrorOptions,
  ) {
    const { cause } = options ?? {};
    const why = cause instanceof Error ? ` (${whyOf(cause)})` : '';
    super(`${url} could not be reached for ${Math.ceil(triedFor / 1000)} s${why}.`, options);
    this.name = 'ConnectionLostError';
    this.url = url;
    this.after = after;
  }
}

/** Something answered that is not a server of Adjutant's. */
export class UnexpectedAnswerError extends Error {
  readonly code = 'unexpected_answer';
  readonly url: string;
  readonly status: number;

  constructor({
    url,
    status,
    reason,
  }: { readonly url: string; readonly status: number; readonly reason: string }) {
    super(`${url} answered ${status} with ${reason}. Is this the address of an Adjutant server?`);
    this.name = 'UnexpectedAnswerError';
    this.url = url;
    this.status = status;
  }
}

/** The client cannot be made, or called, as asked. */
export class InvalidClientError extends Error {
  readonly code = 'invalid_client';

  constructor({ reason }: { readonly reason: string }) {
    super(`The client cannot do that: ${reason}.`);
    this.name = 'InvalidClientError';
  }
}

/** An attempt that came to nothing on the way: for the client itself, which tries again. */
export class LostError extends Error {
  override readonly name = 'LostError';
}

/** True when a thrown value is a problem of the server, and has this code if one is named. */
export function isServerProblem(thrown: unknown, code?: string): thrown is ServerProblemError {
  return thrown instanceof ServerProblemError && (code === undefined || thrown.code === code);
}

/** `fetch` hides what went wrong in the cause of its error. */
function whyOf(error: Error): string {
  let inner = error;
  while (inner.cause instanceof Error) inner = inner.cause;
  const { code } = inner as { readonly code?: unknown };
  return inner.message || (typeof code === 'string' ? code : inner.name);
}
