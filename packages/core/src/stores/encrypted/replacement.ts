import { defined } from '../../base/defined.ts';
import type {
  LedgerHead,
  ReplaceReceipt,
  RequestRow,
  SessionRows,
  StoreAdmin,
} from '../../ledger/port.ts';
import { type LedgerParts, sessionNotFound } from './ledger-parts.ts';
import { RowSeals } from './row-seals.ts';
import { SessionSeals } from './seals.ts';

/**
 * Replaces rows of a session by sealed ones.
 * @throws SessionNotFoundError, SessionBusyError
 */
export async function replaceSealed(
  admin: StoreAdmin,
  parts: LedgerParts,
  session: string,
  { expected, rows }: { readonly expected: LedgerHead; readonly rows: SessionRows },
): Promise<ReplaceReceipt> {
  const { scope } = parts;
  const { listed, requests, summary, turn } = rows;
  const keys = await parts.ring.forWritingAnew(session);
  if (keys === undefined) throw sessionNotFound(parts, session);
  const seals = new SessionSeals(scope);
  const rowSeals = new RowSeals(scope);
  const seal = (row: RequestRow): RequestRow => ({ ...row, ...seals.sealRequest(keys, row) });
  const sealed: SessionRows = defined({
    summary: summary && {
      ...summary,
      title: seals.sealEntry(keys, { ...summary, seq: expected.seq }),
    },
    requests: requests?.map(seal),
    listed: listed && { ...listed, rows: listed.rows.map((row) => rowSeals.seal(keys, row)) },
    turn,
  });
  const { tenant, app } = scope;
  const receipt = await admin.replaceRows({ tenant, app, session }, expected, sealed);
  // If this fails, the next entry marks it.
  if (receipt.replaced && summary !== undefined && !keys.sealsEntry)
    await parts.ring.entrySealed(session, keys).catch(() => undefined);
  return receipt;
}
