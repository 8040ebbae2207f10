import type { JsonObject } from '../../base/json.ts';
import type { ListedRow, RowFilter, StoredRow } from '../../ledger/port.ts';
import { sealText, unsealText } from './cipher.ts';
import { SealBrokenError } from './errors.ts';
import type { Segment, SessionKeys } from './keys/session-keys.ts';
import type { LedgerParts } from './ledger-parts.ts';
import { keyOf, placeOf, type SealScope, sealedIn } from './seals.ts';
import { SessionReader } from './session-reader.ts';

/** Seals and opens the bodies of listed rows, with the keys of their sessions. */
export class RowSeals {
  readonly #scope: SealScope;

  constructor(scope: SealScope) {
    this.#scope = scope;
  }

  seal({ own }: SessionKeys, row: ListedRow): ListedRow {
    if (row.removed === true) return { ...row, body: {} };
    const text = JSON.stringify(row.body);
    const sealed = sealText(keyOf(own, nameOf(row)), this.#place(own, row), text);
    return { ...row, body: { sealed } };
  }

  /** @throws SealBrokenError */
  open<Row extends ListedRow>({ own }: SessionKeys, row: Row): Row {
    const what = nameOf(row);
    const text = unsealText(keyOf(own, what), this.#place(own, row), sealedIn(row.body));
    if (text === undefined) throw new SealBrokenError({ what });
    return { ...row, body: JSON.parse(text) as JsonObject };
  }

  /** Names all members that the row is found by. */
  #place(own: Segment, { kind, id, status, at, expiresAt, user }: ListedRow): string {
    return placeOf(this.#scope, 'row', own.id, kind, id, status, at, expiresAt, user);
  }
}

function nameOf({ kind, id }: ListedRow): string {
  return `The row "${id}" of kind "${kind}"`;
}

/**
 * Lists rows of one tenant and app, opened. Those of a session whose keys are destroyed are left
 * out: it is being deleted.
 * @throws SealBrokenError
 */
export async function listRows(
  { scope, inner, ring }: LedgerParts,
  filter: RowFilter,
): Promise<readonly StoredRow[]> {
  const seals = new RowSeals(scope);
  const opened = await Promise.all(
    (await inner.rows(filter)).map((row) =>
      new SessionReader(ring, row.session).open((keys) => seals.open(keys, row)),
    ),
  );
  return opened.filter((row) => row !== undefined);
}
