import { LedgerUnreadableError } from '../../ledger/errors.ts';
import type { Event } from '../../ledger/event.ts';
import { decodeRow, type StoredRow } from './codec.ts';
import type { WorkerConnection } from './connection.ts';
import type { ReadPage, SessionAddress } from './protocol.ts';

/** Makes events of the pages of one read, in order. */
export class PageDecoder {
  readonly #connection: WorkerConnection;
  readonly #address: SessionAddress;
  readonly #paths = new Map<number, string>();

  constructor(connection: WorkerConnection, address: SessionAddress) {
    this.#connection = connection;
    this.#address = address;
  }

  /** @throws LedgerUnreadableError */
  async decode(page: ReadPage): Promise<readonly Event[]> {
    const rows = parsePage(page.text) ?? (await this.#findDamage(page));
    await this.#loadPaths(rows, page.after);
    const { session } = this.#address;
    let seq = page.after;
    const events = rows.map((row) => {
      if (row[0] !== ++seq) throw new LedgerUnreadableError({ session, seq, reason: 'it is missing' });
      return decodeRow(row, this.#paths, session);
    });
    if (seq !== page.through) throw new LedgerUnreadableError({ session, seq: seq + 1, reason: 'it is missing' });
    return events;
  }

  /** The page does not parse as a whole: names the first row that does not. */
  async #findDamage(page: ReadPage): Promise<readonly StoredRow[]> {
    const rows = await this.#connection.request('readRows', { ...this.#address, after: page.after, through: page.through });
    return rows.map(({ seq, text }) => {
      const row = parsePage(`[${text}]`);
      if (row?.length !== 1) throw new LedgerUnreadableError({ session: this.#address.session, seq, reason: 'its text is damaged' });
      return row[0] as StoredRow;
    });
  }

  /** A read that starts within a ledger meets references to paths that stand before its start. */
  async #loadPaths(rows: readonly StoredRow[], after: number): Promise<void> {
    const missing = new Set<number>();
    for (const row of rows) {
      const path = row[4];
      if (typeof path === 'number' && path !== 0 && path <= after && !this.#paths.has(path)) missing.add(path);
    }
    if (missing.size === 0) return;
    const seqs = [...missing];
    const texts = await this.#connection.request('readPaths', { ...this.#address, seqs });
    texts.forEach((text, i) => {
      const path = text === undefined ? undefined : parseText(text);
      if (typeof path === 'string') this.#paths.set(seqs[i] as number, path);
    });
  }
}

function parsePage(text: string): readonly StoredRow[] | undefined {
  const rows = parseText(text);
  return Array.isArray(rows) && rows.every(Array.isArray) ? (rows as unknown as readonly StoredRow[]) : undefined;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
