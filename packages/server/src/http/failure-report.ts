import { isAdjutantError } from 'adjutant';
import { visibleLine } from 'adjutant/text';

/** A request in which something went wrong inside. */
export interface FailedRequest {
  /** As in the header `x-request-id` of its answer. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
}

/**
 * Tells the operator what went wrong inside. Never throws: whoever reports a failure has enough to
 * do with it.
 */
export type ReportFailure = (error: unknown, request?: FailedRequest) => void;

/**
 * @param onError as the app has it; what it throws, now or later, becomes a warning. @default a
 * warning of the process
 */
export function failureReport(onError: ReportFailure | undefined): ReportFailure {
  if (onError === undefined) return warnOf;
  const known = reports.get(onError);
  if (known !== undefined) return known;
  const report: ReportFailure = (error, request) => {
    const failed = (cause: unknown): void => {
      warn(cause, { what: '`onError` of the server failed', code: 'on_error_failed' });
      warnOf(error, request);
    };
    try {
      // An `async` function is one too, to the compiler.
      const told: unknown = onError(error, request);
      if (told instanceof Promise) told.catch(failed);
    } catch (cause) {
      failed(cause);
    }
  };
  reports.set(onError, report);
  return report;
}

/** One reporter for each function, so that a fault of all servers of a process is reported once. */
const reports = new WeakMap<ReportFailure, ReportFailure>();

function warnOf(error: unknown, request?: FailedRequest): void {
  if (request !== undefined)
    warn(error, {
      what: `${request.method} ${request.path} failed (${request.id})`,
      code: 'request_failed',
    });
  else if (isAdjutantError(error))
    warn(error, { what: 'Something beside the requests failed', code: error.code });
  else warn(error, { what: 'Something beside the requests failed', code: 'request_failed' });
}

function warn(
  error: unknown,
  { what, code }: { readonly what: string; readonly code: string },
): void {
  process.emitWarning(visibleLine(`${what}: ${textOf(error)}`), { type: 'AdjutantWarning', code });
}

const longestText = 2_000;

/** Returns the text of a thrown value. Any value can be thrown, also one that has no text. */
export function textOf(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
  } catch {
    return 'something that cannot be shown';
  }
}
