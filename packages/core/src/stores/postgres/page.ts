import { mapInTurns } from '../../base/turns.ts';
import { LedgerUnreadableError, SessionNotFoundError } from '../../ledger/errors.ts';
import type { Event } from '../../ledger/event.ts';
import type { ReadRange, StoredEvent } from '../../ledger/port.ts';
import { unreadableEvent } from '../../ledger/upcast.ts';
import { decodeRow, decodeStoredRow, isStoredRow, type StoredRow } from '../sqlite/encoding.ts';
import type { Database } from './database.ts';
import { toStorable } from './storable-text.ts';
import { storedWhole } from './whole.ts';

interface SessionAddress {
  readonly tenant: string;
  readonly app: string;
  readonly session: string;
}

/** A stretch of a ledger, and the JSON text of its rows. */
interface Page {
  readonly after: number;
  readonly through: number;
  readonly more: boolean;
  readonly text: string;
}

/** Reads one ledger, and never another that has got its name meanwhile. */
export class PageReader {
  readonly #database: Database;
  readonly #address: SessionAddress;
  /** Number of the ledger, once it was found. */
  #ledger: string | null = null;

  constructor(database: Database, address: SessionAddress) {
    this.#database = database;
    this.#address = address;
  }

  /** @throws SessionNotFoundError, LedgerUnreadableError */
  async *events(range: ReadRange): AsyncGenerator<readonly Event[], void, undefined> {
    const { session } = this.#address;
    for await (const page of this.#pages(range)) {
      const rows = wholeRows(page) ?? (await this.#findDamage(page));
      const paths = new Map<number, string>();
      yield await mapInTurns(rows, (row) => decodeRow(row, paths, session));
    }
  }

  /**
   * Yields events as `events` does, with a mark in place of each row that is damaged, missing or
   * unknown to this build.
   * @throws SessionNotFoundError
   */
  async *storedEvents(range: ReadRange): AsyncGenerator<readonly StoredEvent[], void, undefined> {
    const { session } = this.#address;
    for await (const page of this.#pages(range)) {
      const paths = new Map<number, string>();
      const rows = wholeRows(page);
      yield rows === undefined
        ? (await this.#readSingly(page)).map(({ seq, row, text }) => {
            return row === undefined
              ? unreadableEvent(seq, reasonFor(text), text)
              : decodeStoredRow(row, paths, session);
          })
        : await mapInTurns(rows, (row) => decodeStoredRow(row, paths, session));
    }
  }

  /** Yields pages, and requests the next while one is used. */
  async *#pages(range: ReadRange): AsyncGenerator<Page, void, undefined> {
    let request = this.#request(range.after ?? 0, range.upTo);
    for (;;) {
      const page = await request;
      if (page.more) request = this.#request(page.through, range.upTo);
      if (page.through > page.after) yield page;
      if (!page.more) return;
    }
  }

  #request(after: number, upTo: number | undefined): Promise<Page> {
    const page = this.#find(after, upTo);
    // A reader that stops early never asks for the next page, so its failure must not go unhandled.
    page.catch(() => undefined);
    return page;
  }

  async #find(after: number, upTo: number | undefined): Promise<Page> {
    const { tenant, app, session } = this.#address;
    const [row] = await this.#database.query(
      'select ledger::text, through::text, more::text, page from {s}.read_page($1, $2, $3, ' +
        '$4::bigint, $5::bigint, $6::bigint)',
      [
        toStorable(tenant),
        toStorable(app),
        toStorable(session),
        this.#ledger,
        after,
        upTo === undefined ? null : storedWhole(upTo),
      ],
    );
    if (row === undefined) throw new SessionNotFoundError({ session, app });
    this.#ledger = String(row['ledger']);
    return {
      after,
      through: Number(row['through']),
      more: row['more'] === 'true',
      text: String(row['page']),
    };
  }

  /** Finds the first row of a damaged page that is wrong or missing. */
  async #findDamage(page: Page): Promise<readonly StoredRow[]> {
    const { session } = this.#address;
    return (await this.#readSingly(page)).map(({ seq, row, text }) => {
      if (row === undefined)
        throw new LedgerUnreadableError({ session, seq, reason: reasonFor(text) });
      return row;
    });
  }

  async #readSingly({
    after,
    through,
  }: Page): Promise<
    readonly { seq: number; row: StoredRow | undefined; text: string | undefined }[]
  > {
    const found: { seq: number; row: StoredRow | undefined; text: string | undefined }[] = [];
    for (let seq = after + 1; seq <= through; seq++) {
      const page = await this.#find(seq - 1, seq);
      const text = page.text === '[]' ? undefined : page.text.slice(1, -1);
      found.push({ seq, row: wholeRows(page)?.[0], text });
    }
    return found;
  }
}

function reasonFor(text: string | undefined): string {
  return text === undefined ? 'it is missing' : 'its text is damaged';
}

/** Returns the rows of a page when each is in its place. */
function wholeRows({ text, after, through }: Page): readonly StoredRow[] | undefined {
  const rows = parseRows(text);
  if (rows?.length !== through - after) return undefined;
  return rows.every((row, i) => row[0] === after + 1 + i) ? rows : undefined;
}

function parseRows(text: string): readonly StoredRow[] | undefined {
  try {
    const rows = JSON.parse(text) as readonly unknown[];
    return rows.every(isStoredRow) ? rows : undefined;
  } catch {
    return undefined;
  }
}
