import { RequestNotFoundError, RequestSettledError } from '../ledger/errors.ts';
import type { RequestDraft, RequestFilter, RequestRow, RequestSettlement } from '../ledger/port.ts';

/** The members that decide if a request can still be settled. */
export type RequestState = Pick<
  RequestRow,
  'requestId' | 'session' | 'status' | 'settledBy' | 'expiresAt'
>;

/**
 * Checks an answer before anything is written. An expired request stays pending until its writer
 * settles it.
 * @throws RequestNotFoundError, RequestSettledError
 */
export function checkAnswer(
  session: string,
  requestId: string,
  found: RequestState | undefined,
  now: number,
): void {
  if (found?.session !== session) throw new RequestNotFoundError({ requestId });
  if (found.status !== 'pending') throw settledBefore(found);
  if (found.expiresAt !== undefined && found.expiresAt <= now)
    throw new RequestSettledError({ requestId, status: 'expired' });
}

/**
 * True when a settlement by the writer remains to be written. False when the request was settled in
 * this very way before.
 * @throws RequestNotFoundError, RequestSettledError
 */
export function checkSettlement(
  session: string,
  { requestId, status }: RequestSettlement,
  found: RequestState | undefined,
): boolean {
  if (found?.session !== session) throw new RequestNotFoundError({ requestId });
  if (found.status !== 'pending' && found.status !== status) throw settledBefore(found);
  return found.status === 'pending';
}

/** @throws RangeError */
export function checkRequests(session: string, requests: readonly RequestDraft[] = []): void {
  const foreign = requests.find((request) => request.session !== session);
  if (foreign === undefined) return;
  throw new RangeError(
    `Request "${foreign.requestId}" of session "${foreign.session}" cannot be made by an ` +
      `append to session "${session}".`,
  );
}

/** True when a row matches the filter, on any page. */
export function isRequested(row: RequestRow, filter: RequestFilter): boolean {
  const { requestId, operationId, session, user, status, kinds } = filter;
  return (
    (requestId === undefined || row.requestId === requestId) &&
    (operationId === undefined || row.operationId === operationId) &&
    (session === undefined || row.session === session) &&
    (user === undefined || row.user === user) &&
    (status === undefined || row.status === status) &&
    (kinds === undefined || kinds.includes(row.kind))
  );
}

function settledBefore({ requestId, status, settledBy }: RequestState): RequestSettledError {
  return new RequestSettledError({ requestId, status, by: settledBy });
}
