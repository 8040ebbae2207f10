import { defined } from '../../base/defined.ts';
import { AdjutantError } from '../../base/error.ts';
import type { JsonObject } from '../../base/json.ts';

/** The request does not exist here, or not for this tenant and app. */
export class RequestNotFoundError extends AdjutantError {
  /** @param isCall true where an id of a call was given in the place of that of its request */
  constructor(data: { requestId: string }, isCall = false) {
    super(
      'request_not_found',
      isCall
        ? `There is no request "${data.requestId}": that is the id of a call. Give the ` +
            '`requestId` that stands beside it.'
        : `There is no request "${data.requestId}", and no call of that name waits for an answer.`,
      data,
    );
  }
}

/** Outcome of a request, as far as it is known. */
interface Settled {
  readonly requestId: string;
  readonly status: string;
  readonly by?: string | undefined;
  /** Decision of a request that was answered. */
  readonly decision?: string | undefined;
}

const decided: Readonly<Record<string, string>> = {
  approve: 'it was approved',
  edit: 'it was approved with other arguments',
  reject: 'it was rejected',
};

/** Outcomes without an author. */
const ends: Readonly<Record<string, string>> = {
  expired: 'its time is over',
  escalated: 'nobody answered in time, and it was passed on to others',
  cancelled: 'it was cancelled together with what had asked',
  withdrawn: 'it was withdrawn, because what had asked does not ask this any more',
};

/** The request has been settled before: of all answers, expiries and cancels one wins. */
export class RequestSettledError extends AdjutantError {
  constructor({ requestId, status, by, decision }: Settled) {
    const data = defined({ requestId, status, by, decision });
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
