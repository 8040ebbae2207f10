import { defined } from '../../../base/defined.ts';
import type { InboxItem } from '../../../ledger/port.ts';
import { isSealed } from '../../../ledger/sealed-event.ts';
import type { ContentAccess, ContentRow } from '../../content-access.ts';
import { decodeRow, type EventFields, encodeEvent, type StoredRow } from '../../sqlite/encoding.ts';
import { EventSeals } from '../event-seals.ts';
import type { SessionKeys } from '../keys/session-keys.ts';
import { type SealScope, SessionSeals } from '../seals.ts';
import type { SealedCounts } from './sealed-counts.ts';
import { pages, type StoredLedger } from './stored-ledgers.ts';

/** Index of the body among the fields of an event. */
const bodyField = 5;

/** Seals what the tables have of single ledgers: entries, events, inbox; and drops snapshots. */
export class LedgerSealing {
  readonly #content: ContentAccess;
  readonly #events: EventSeals;
  readonly #seals: SessionSeals;
  readonly #counts: SealedCounts;

  constructor(content: ContentAccess, scope: SealScope, counts: SealedCounts) {
    this.#content = content;
    this.#events = new EventSeals(scope);
    this.#seals = new SessionSeals(scope);
    this.#counts = counts;
  }

  /** @throws LedgerUnreadableError when an event cannot be read */
  async seal(ledger: StoredLedger, keys: SessionKeys): Promise<void> {
    const before = this.#counts.events;
    await this.#sealEvents(ledger, keys);
    await this.#sealInbox(ledger, keys);
    const isNew = (await this.#sealEntry(ledger, keys)) || this.#counts.events > before;
    if (isNew && ledger.session !== undefined) this.#counts.sessions += 1;
    // A snapshot is made again when it is needed.
    await this.#content.query('delete from {s}snapshots where ledger = $1', [ledger.id]);
  }

  async #sealEvents(ledger: StoredLedger, keys: SessionKeys): Promise<void> {
    const { eventsAfter } = this.#content.dialect;
    const columns = 'seq, at, type, actor, path, body';
    const select = `select ${columns} from {s}events where ${eventsAfter} limit $3`;
    const paths = new Map<number, string>();
    const read = (last: ContentRow | undefined, limit: number): Promise<readonly ContentRow[]> =>
      this.#content.query(select, [ledger.id, Number(last?.['seq'] ?? 0), limit]);
    for await (const rows of pages(read))
      for (const row of rows) await this.#sealEvent(ledger, keys, row, paths);
  }

  async #sealEvent(
    { id, session = `(deleted, ${id})` }: StoredLedger,
    keys: SessionKeys,
    row: ContentRow,
    paths: Map<number, string>,
  ): Promise<void> {
    const values = [row['seq'], row['at'], row['type'], row['actor'], row['path'], row['body']];
    const event = decodeRow(JSON.parse(`[${values.join(',')}]`) as StoredRow, paths, session);
    if (isSealed(event)) return;
    const fields: EventFields = [];
    encodeEvent(this.#events.seal(keys, session, event), fields);
    await this.#content.query(
      `update {s}events set body = $3 where ${this.#content.dialect.rowIs('seq')}`,
      [id, event.seq, fields[bodyField]],
    );
    this.#counts.events += 1;
  }

  async #sealInbox({ id }: StoredLedger, keys: SessionKeys): Promise<void> {
    const { fromStored, rowIs } = this.#content.dialect;
    const text = (value: unknown): string => fromStored(String(value));
    const rows = await this.#content.query(
      'select position, key, lane, actor, at, type, data, settles from {s}inbox where ledger = $1',
      [id],
    );
    for (const row of rows) {
      const item = {
        key: text(row['key']),
        lane: row['lane'],
        by: text(row['actor']),
        at: Number(row['at']),
        type: row['type'],
        data: JSON.parse(String(row['data'])),
        ...defined({ settles: row['settles'] === null ? undefined : text(row['settles']) }),
      } as InboxItem;
      if (isOpened(() => this.#seals.openItem('', keys, { ...item, position: 0 }))) continue;
      const { data } = this.#seals.sealItem(keys, item);
      await this.#content.query(`update {s}inbox set data = $3 where ${rowIs('position')}`, [
        id,
        Number(row['position']),
        JSON.stringify(data),
      ]);
      this.#counts.inbox += 1;
    }
  }

  /** Seals the entry of the list. Returns true when it was not sealed before. */
  async #sealEntry(ledger: StoredLedger, keys: SessionKeys): Promise<boolean> {
    const { id, session, title, user, runnable, seq } = ledger;
    if (session === undefined) return false;
    // A fork has a copy of its origin's entry until it writes its own.
    if (keys.line.some((segment) => title?.startsWith(`${segment}.`))) return false;
    const isEmpty = seq === 0 && (title ?? user ?? runnable) === undefined;
    if (isEmpty || (title === undefined && !keys.sealsEntry)) return false;
    const entry = this.#seals.sealEntry(keys, { title, user, runnable, seq });
    // The next epoch: a process that still has a claim cannot append what is not sealed.
    await this.#content.query('update {s}ledgers set title = $2, epoch = epoch + 1 where id = $1', [
      id,
      entry,
    ]);
    return true;
  }
}

/** True when content is sealed already: only sealed content opens. */
export function isOpened(open: () => unknown): boolean {
  try {
    open();
    return true;
  } catch {
    return false;
  }
}
