import type { RowFilter, StoredRow } from '../ledger/port.ts';

/** True when a row matches the filter, on any page, and is still listed. */
export function isListedRow(row: StoredRow, filter: RowFilter, now: number): boolean {
  const { kind, id, session, statuses, user } = filter;
  return (
    row.kind === kind &&
    (row.expiresAt === undefined || row.expiresAt > now) &&
    (id === undefined || row.id === id) &&
    (session === undefined || row.session === session) &&
    (statuses === undefined || statuses.includes(row.status)) &&
    (user === undefined || row.user === user)
  );
}
