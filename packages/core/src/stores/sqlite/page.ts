import { mapInTurns } from '../../base/turns.ts';
import { LedgerUnreadableError } from '../../ledger/errors.ts';
import type { Event } from '../../ledger/event.ts';
import type { StoredEvent } from '../../ledger/port.ts';
import { unreadableEvent } from '../../ledger/upcast.ts';
import type { WorkerConnection } from './connection.ts';
import { decodeRow, decodeStoredRow, isStoredRow, type StoredRow } from './encoding.ts';
import type { ReadPage, SessionAddress } from './protocol.ts';

const missing = 'it is missing';
const damagedText = 'its text is damaged';

/** Decodes the pages of one read, in order. */
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
    const rows =
      whole !== undefined && firstGap(whole, page) === undefined
        ? whole
        : await this.#findDamage(page);
    await this.#loadPaths(rows, page);
    return mapInTurns(rows, (row) => decodeRow(row, this.#paths, this.#address.session));
  }

  /**
   * Decodes a page as `decode` does, with a mark in place of each row that is damaged, missing or
   * unknown to this build.
   */
  async decodeStored(page: ReadPage): Promise<readonly StoredEvent[]> {
    const { session } = this.#address;
    const whole = parsePage(page.text);
    if (whole !== undefined && firstGap(whole, page) === undefined) {
      await this.#loadPaths(whole, page);
      return mapInTurns(whole, (row) => decodeStoredRow(row, this.#paths, session));
    }
    const texts = await this.#connection.request('readRows', {
      ...this.#address,
      ledger: page.ledger,
      after: page.after,
      through: page.through,
    });
    const found = new Map(texts.map(({ seq, text }) => [seq, { text, row: parseRow(text) }]));
    const rows = [...found.values()].flatMap(({ row }) => (row === undefined ? [] : [row]));
    await this.#loadPaths(rows, page);
    return Array.from({ length: page.through - page.after }, (_, i) => {
      const seq = page.after + 1 + i;
      const { text, row } = found.get(seq) ?? {};
      if (row !== undefined) return decodeStoredRow(row, this.#paths, session);
      return unreadableEvent(seq, text === undefined ? missing : damagedText, text);
    });
  }

  /** Finds the first row of a damaged page that is wrong or missing. */
  async #findDamage(page: ReadPage): Promise<readonly StoredRow[]> {
    const { session } = this.#address;
    const texts = await this.#connection.request('readRows', {
      ...this.#address,
      ledger: page.ledger,
      after: page.after,
      through: page.through,
    });
    const rows = texts.map(({ seq, text }) => {
      const row = parseRow(text);
      if (row === undefined) throw new LedgerUnreadableError({ session, seq, reason: damagedText });
      return row;
    });
    const gap = firstGap(rows, page);
    if (gap !== undefined) throw new LedgerUnreadableError({ session, seq: gap, reason: missing });
    return rows;
  }

  /** Loads paths that stand before the start of the read, and that its rows refer to. */
  async #loadPaths(rows: readonly StoredRow[], { ledger, after }: ReadPage): Promise<void> {
    const missing = new Set<number>();
    for (const row of rows) {
      const path = row[4];
      if (typeof path === 'number' && path !== 0 && path <= after && !this.#paths.has(path))
        missing.add(path);
    }
    if (missing.size === 0) return;
    const seqs = [...missing];
    const texts = await this.#connection.request('readPaths', { ...this.#address, ledger, seqs });
    texts.forEach((text, i) => {
      const path = text === undefined ? undefined : parseText(text);
      if (typeof path === 'string') this.#paths.set(seqs[i] as number, path);
    });
  }
}

/** Returns the first `seq` of the page that has no row in its place. */
function firstGap(rows: readonly StoredRow[], page: ReadPage): number | undefined {
  for (let seq = page.after + 1; seq <= page.through; seq++)
    if (rows[seq - page.after - 1]?.[0] !== seq) return seq;
  return rows.length === page.through - page.after ? undefined : page.through + 1;
}

function parsePage(text: string): readonly StoredRow[] | undefined {
  const rows = parseText(text);
  return Array.isArray(rows) && rows.every(isStoredRow) ? rows : undefined;
}

function parseRow(text: string): StoredRow | undefined {
  const rows = parsePage(`[${text}]`);
  return rows?.length === 1 ? rows[0] : undefined;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
