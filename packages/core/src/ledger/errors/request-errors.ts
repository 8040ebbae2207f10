import { AdjutantError } from '../../base/error.ts';
import type { JsonObject } from '../../base/json.ts';

/** There is no such request, here or for this tenant and app. */
export class RequestNotFoundError extends AdjutantError {
  constructor(data: { requestId: string }) {
    super(
      'request_not_found',
      `There is no request "${data.requestId}", and no call of that name waits for an answer.`,
      data,
    );
  }
}

/** What became of a request, as far as it is known. */
interface Settled {
  readonly requestId: string;
  readonly status: string;
  readonly by?: string | undefined;
  /** What was said, of one that was answered. */
  readonly decision?: string | undefined;
}

const decided: Readonly<Record<string, string>> = {
  approve: 'it was approved',
  edit: 'it was approved with other arguments',
  reject: 'it was rejected',
};

/** What became of it, without who did it. */
const ends: Readonly<Record<string, string>> = {
  expired: 'its time is over',
  escalated: 'nobody answered in time, and it was passed on to others',
  cancelled: 'it was cancelled together with what had asked',
  withdrawn: 'it was withdrawn, because what had asked does not ask this any more',
};

/**
 * Somebody or something else has settled the request before: of all answers, expiries and cancels
 * one wins.
 */
export class RequestSettledError extends AdjutantError {
  constructor({ requestId, status, by, decision }: Settled) {
    const data = {
      requestId,
      status,
      ...(by === undefined ? {} : { by }),
      ...(decision === undefined ? {} : { decision }),
    };
    super(
      'request_settled',
      `Request "${requestId}" can no longer be answered: ` +
        `${endOf({ requestId, status, by, decision })}.`,
      data as JsonObject,
    );
  }
}

function endOf({ status, by, decision }: Settled): string {
  const end = ends[status];
  if (end !== undefined) return end;
  const said =
    decided[decision ?? ''] ??
    (decision === undefined || decision === 'answer'
      ? `it was ${status}`
      : `it was ${status} with '${decision}'`);
  return by === undefined ? said : `${said} by ${by}`;
}
