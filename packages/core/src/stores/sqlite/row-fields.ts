import type { ListedRow, RequestDraft, RequestRow } from '../../ledger/port.ts';
import type { RequestFields, RowFields, SettledFields } from './protocol.ts';

/**
 * Returns a request with its JSON text. Content that is not JSON fails here, before the worker has
 * begun to write.
 */
export function requestFields(request: RequestDraft): RequestFields {
  const { requestId, kind, user = null, operationId = null, createdAt, expiresAt = null } = request;
  return {
    requestId,
    kind,
    user,
    operationId,
    createdAt,
    expiresAt,
    body: JSON.stringify(request),
  };
}

/** Returns a request with its JSON text, and what became of it. */
export function settledFields(row: RequestRow): SettledFields {
  const { settledAt = null, settledBy = null, status, ...request } = row;
  return { ...requestFields(request), status, settledBy, settledAt };
}

/** Returns a listed row with the JSON text of its body. */
export function rowFields(row: ListedRow): RowFields {
  const { kind, id, status, at, expiresAt = null, user = null, body, removed } = row;
  const text = removed === true ? null : JSON.stringify(body);
  return { kind, id, status, at, expiresAt, user, body: text };
}
