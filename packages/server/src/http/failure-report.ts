/** A request in which something went wrong inside. */
export interface FailedRequest {
  /** As in the header `x-request-id` of its answer. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
}

/** Tells the operator what went wrong inside. Never throws: whoever reports a failure has enough to do with it. */
export type ReportFailure = (error: unknown, request?: FailedRequest) => void;

/** @param onError as the app has it; what it throws, now or later, becomes a warning. @default a warning of the process */
export function failureReport(onError: ReportFailure | undefined): ReportFailure {
  if (onError === undefined) return (error, request) => warn(whatFailed(request), error, 'request_failed');
  return (error, request) => {
    const failed = (cause: unknown): void => {
      warn('`onError` of the server failed', cause, 'on_error_failed');
      warn(whatFailed(request), error, 'request_failed');
    };
    try {
      // An `async` function is one too, to the compiler.
      const told: unknown = onError(error, request);
      if (told instanceof Promise) told.catch(failed);
    } catch (cause) {
      failed(cause);
    }
  };
}

function whatFailed(request: FailedRequest | undefined): string {
  return request === undefined ? 'Something beside the requests failed' : `${request.method} ${request.path} failed (${request.id})`;
}

function warn(what: string, error: unknown, code: string): void {
  process.emitWarning(`${what}: ${textOf(error)}`, { type: 'AdjutantWarning', code });
}

/** Anything can be thrown, also what cannot be made a text of. */
function textOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return 'something that cannot be shown';
  }
}
