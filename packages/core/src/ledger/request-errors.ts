import { AdjutantError } from '../base/error.ts';
import type { JsonObject } from '../base/json.ts';

/** There is no such request, here or for this tenant and app. */
export class RequestNotFoundError extends AdjutantError {
  constructor(data: { requestId: string }) {
    super('request_not_found', `There is no request "${data.requestId}", and no call of that name waits for an answer.`, data);
  }
}

/** Somebody or something else has settled the request before: of all answers, expiries and cancels one wins. */
export class RequestSettledError extends AdjutantError {
  constructor(data: { requestId: string; status: string; by?: string | undefined }) {
    const by = data.by === undefined ? '' : ` by ${data.by}`;
    super('request_settled', `Request "${data.requestId}" can no longer be answered: it was ${data.status}${by}.`, data as JsonObject);
  }
}
