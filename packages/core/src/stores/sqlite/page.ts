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
    const whole = parsePage(page.text);
    const rows = whole !== undefined && firstGap(whole, page) === undefined ? whole : await this.#findDamage(page);
    await this.#loadPaths(rows, page.after);
    return rows.map((row) => decodeRow(row, this.#paths, this.#address.session));
  }

  /** The page as a whole is not what it should be: names the first row that is not, or the first that is not there. */
  async #findDamage(page: ReadPage): Promise<readonly StoredRow[]> {
    const { session } = this.#address;
    const texts = await this.#connection.request('readRows', { ...this.#address, after: page.after, through: page.through });
    const rows = texts.map(({ seq, text }) => {
      const row = parsePage(`[${text}]`);
      if (row?.length !== 1) throw new LedgerUnreadableError({ session, seq, reason: 'its text is damaged' });
      return row[0] as StoredRow;
    });
    const gap = firstGap(rows, page);
    if (gap !== undefined) throw new LedgerUnreadableError({ session, seq: gap, reason: 'it is missing' });
    return rows;
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

/** The first `seq` of the page that has no row in its place. */
function firstGap(rows: readonly StoredRow[], page: ReadPage): number | undefined {
  for (let seq = page.after + 1; seq <= page.through; seq++) if (rows[seq - page.after - 1]?.[0] !== seq) return seq;
  return rows.length === page.through - page.after ? undefined : page.through + 1;
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
