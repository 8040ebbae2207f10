import type { ListedRow, RowFilter, StoredRow } from '../../ledger/port.ts';
import { isListedRow } from '../listed-rows.ts';
import { copyJson } from './json.ts';

/** The listed rows of one tenant and app in memory. */
export class MemoryRows {
  readonly #rows = new Map<string, StoredRow>();

  write(session: string, rows: readonly ListedRow[]): void {
    for (const row of rows) {
      const key = keyOf(row);
      if (row.removed === true) this.#rows.delete(key);
      else this.#rows.set(key, copyJson<StoredRow>({ ...row, session }));
    }
  }

  list(filter: RowFilter, now: number, limit: number): readonly StoredRow[] {
    const { after, newestFirst = false } = filter;
    const sign = newestFirst ? -1 : 1;
    return [...this.#rows.values()]
      .filter((row) => isListedRow(row, filter, now))
      .filter((row) => after === undefined || sign * compareRows(after, row) < 0)
      .sort((left, right) => sign * compareRows(left, right))
      .slice(0, limit);
  }

  replace(session: string, kinds: readonly string[], rows: readonly ListedRow[]): void {
    for (const [key, row] of this.#rows)
      if (row.session === session && kinds.includes(row.kind)) this.#rows.delete(key);
    this.write(session, rows);
  }

  forget(session: string): void {
    for (const [key, row] of this.#rows) if (row.session === session) this.#rows.delete(key);
  }
}

function keyOf({ kind, id }: ListedRow): string {
  return JSON.stringify([kind, id]);
}

/** Orders rows by their time; equal times by id. */
function compareRows(
  left: Pick<ListedRow, 'at' | 'id'>,
  right: Pick<ListedRow, 'at' | 'id'>,
): number {
  if (left.at !== right.at) return left.at - right.at;
  if (left.id === right.id) return 0;
  return left.id < right.id ? -1 : 1;
}
