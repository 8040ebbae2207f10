import type { RequestFilter, RequestRow } from '../../ledger/port.ts';
import { SealBrokenError } from './errors.ts';
import type { LedgerParts } from './ledger-parts.ts';
import { SessionSeals } from './seals.ts';
import { SessionReader } from './session-reader.ts';

/** Text of a request that cannot be answered any more: the keys of its session are destroyed. */
const lostRequest: RequestRow['request'] = {
  agent: '',
  summary: 'It cannot be read: the key of its session was destroyed.',
  options: [],
};

/**
 * Lists the requests of one tenant and app, opened.
 * @throws SealBrokenError when a row was moved
 */
export async function listRequests(
  { scope, inner, ring }: LedgerParts,
  filter: RequestFilter,
): Promise<readonly RequestRow[]> {
  const seals = new SessionSeals(scope);
  const rows = await inner.requests(filter);
  return Promise.all(
    rows.map(async (row) => {
      // The columns that it is found by are not sealed.
      if (!isFoundRightly(row, filter))
        throw new SealBrokenError({
          what: `The request "${row.requestId}" of session "${row.session}"`,
        });
      const reader = new SessionReader(ring, row.session);
      return (
        (await reader.open((keys) => seals.openRequest(keys, row))) ?? {
          ...row,
          request: lostRequest,
        }
      );
    }),
  );
}

/** True when the sealed content of a request matches the filter that it was found by. */
function isFoundRightly(
  { user, session, requestId, operationId }: RequestRow,
  filter: RequestFilter,
): boolean {
  const asked = [filter.user, filter.session, filter.requestId, filter.operationId];
  return [user, session, requestId, operationId].every(
    (said, i) => asked[i] === undefined || asked[i] === said,
  );
}
