import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { JsonValue } from '../../base/json.ts';
import type { InboxEntry, LedgerHead, SharedValue } from '../../ledger/port.ts';
import type { ReadOperations, ReadPage, ReadRequest, ReadRequestMessage } from './protocol.ts';
import { AddressKeyRows } from './rows/address-key-rows.ts';
import { BlobReads } from './rows/blob-reads.ts';
import type { LedgerRow, LedgerRows } from './rows/ledger-rows.ts';
import type { ListedRows } from './rows/listed-rows.ts';
import type { OutboxRows } from './rows/outbox-rows.ts';
import type { RequestRows } from './rows/request-rows.ts';
import { mostRows, rowId } from './rows/rows-by-id.ts';
import { SessionRows } from './rows/session-rows.ts';
import type { SnapshotRows } from './rows/snapshot-rows.ts';
import type { FileTables } from './rows/tables-of-file.ts';
import { TurnOperations } from './turn-operations.ts';

type RequestOf<Name extends keyof ReadOperations> = ReadOperations[Name]['request'];

const mostEventsPerPage = 1_000;
/** Most characters of a page, which its reader parses in one piece. */
const mostCharactersPerPage = 1_000_000;
const rowText =
  `'[' || seq || ',' || at || ',' || type || ',' || actor || ',' || path || ',' || body || ` +
  `']'`;
const inRange = `id > ${rowId('?1', '?2')} and id <= ${rowId('?1', '?3')}`;
const rowsOfRange = `from events where ${inRange} order by id`;

/** The operations that only read. */
export class ReadOperationsOfFile {
  readonly #ledgers: LedgerRows;
  readonly #pageSize: StatementSync;
  readonly #page: StatementSync;
  readonly #rows: StatementSync;
  readonly #path: StatementSync;
  readonly #inbox: StatementSync;
  readonly #blobs: BlobReads;
  readonly #addressKeys: AddressKeyRows;
  readonly #shared: StatementSync;
  readonly #dataVersion: StatementSync;
  readonly #sessions: SessionRows;
  readonly #requests: RequestRows;
  readonly #snapshots: SnapshotRows;
  readonly #turns: TurnOperations;
  readonly #outbox: OutboxRows;
  readonly #listedRows: ListedRows;

  constructor(database: DatabaseSync, tables: FileTables) {
    const prepare = (sql: string): StatementSync => database.prepare(sql);
    this.#ledgers = tables.ledgers;
    this.#requests = tables.requests;
    this.#snapshots = tables.snapshots;
    this.#outbox = tables.outbox;
    this.#listedRows = tables.listedRows;
    this.#turns = new TurnOperations(database, tables);
    this.#sessions = new SessionRows(database);
    this.#pageSize = prepare(
      `select sum(octet_length(body)) as bytes from events where ${inRange}`,
    );
    // The database joins the rows: one text goes between the threads and is parsed once.
    this.#page = prepare(
      `select '[' || group_concat(row) || ']' as text from (select ${rowText} as row ` +
        `${rowsOfRange})`,
    );
    this.#rows = prepare(`select seq, ${rowText} as text ${rowsOfRange}`);
    this.#path = prepare(
      `select path from events where id = ${rowId('?', '?')} and typeof(path) = 'text'`,
    );
    this.#inbox = prepare(`select position, key, lane, actor, at, type, data, settles from inbox
       where ${inRange} order by lane = 'input', id`);
    this.#blobs = new BlobReads(database);
    this.#addressKeys = new AddressKeyRows(database);
    this.#shared = prepare(
      'select key, value, version from shared where tenant = ? and app = ? and scope = ? ' +
        'and scope_id = ?',
    );
    this.#dataVersion = prepare('pragma data_version');
  }

  perform(request: ReadRequestMessage): unknown {
    switch (request[0]) {
      case 'head':
        return this.#head(request[1]);
      case 'birth':
        return this.#birth(request[1]);
      case 'turn':
        return this.#turns.turn(request[1]);
      case 'turns':
        return this.#turns.list(request[1]);
      case 'rows':
        return this.#listedRows.list(request[1]);
      case 'sends':
        return this.#outbox.list(request[1]);
      case 'read':
        return this.#read(request[1]);
      case 'readRows':
        return this.#readRows(request[1]);
      case 'readPaths':
        return this.#readPaths(request[1]);
      case 'inbox':
        return this.#readInbox(request[1]);
      case 'getBlob':
        return this.#blobs.get(request[1]);
      case 'addressKey':
        return this.#addressKeys.find(request[1]);
      case 'readShared':
        return this.#readShared(request[1]);
      case 'list':
        return this.#sessions.list(request[1]);
      case 'sessionsOfRun':
        return this.#sessions.ofRun(request[1]);
      case 'due':
        return this.#sessions.due(request[1]);
      case 'requests':
        return this.#requests.list(request[1], request[1].filter, request[1].limit);
      case 'getSnapshot':
        return this.#snapshots.get(request[1]);
      case 'dataVersion':
        return this.#dataVersion.get()?.['data_version'];
      case 'now':
        return request[1].now;
      case 'close':
        return null;
    }
  }

  #head(request: RequestOf<'head'>): LedgerHead | undefined {
    const ledger = this.#ledgers.find(request);
    return ledger === undefined
      ? undefined
      : { seq: ledger.seq, epoch: ledger.epoch, inboxSeq: ledger.inbox_seq };
  }

  /** The number of a ledger is never given again. */
  #birth(request: RequestOf<'birth'>): string | undefined {
    const ledger = this.#ledgers.find(request);
    return ledger === undefined ? undefined : String(ledger.id);
  }

  #read(request: ReadRequest): ReadPage {
    const ledger = this.#ledgers.get(request, request.ledger);
    // A place before the first row would be one of another ledger.
    const after = Math.max(0, request.after);
    const last = Math.min(request.upTo ?? ledger.seq, ledger.seq);
    if (after >= last) return { ledger: ledger.id, text: '[]', after, through: after, more: false };
    const holder = this.#ledgers.holderOf(ledger, after + 1);
    const through = this.#endOfPage(
      holder,
      after,
      Math.min(last, this.#ledgers.lastFrom(ledger, holder)),
    );
    const text = this.#page.get(holder.id, after, through)?.['text'] as string | null;
    return { ledger: ledger.id, text: text ?? '[]', after, through, more: through < last };
  }

  #endOfPage(holder: LedgerRow, after: number, last: number): number {
    let count = Math.min(mostEventsPerPage, last - after);
    for (;;) {
      const bytes = Number(this.#pageSize.get(holder.id, after, after + count)?.['bytes'] ?? 0);
      if (bytes <= mostCharactersPerPage || count === 1) return after + count;
      count = Math.max(1, Math.min(count - 1, Math.floor((count * mostCharactersPerPage) / bytes)));
    }
  }

  #readRows(request: RequestOf<'readRows'>): readonly { seq: number; text: string }[] {
    const holder = this.#ledgers.holderOf(
      this.#ledgers.get(request, request.ledger),
      request.after + 1,
    );
    return this.#rows.all(holder.id, request.after, request.through) as {
      seq: number;
      text: string;
    }[];
  }

  #readPaths(request: RequestOf<'readPaths'>): readonly (string | undefined)[] {
    const ledger = this.#ledgers.get(request, request.ledger);
    return request.seqs.map(
      (seq) =>
        this.#path.get(this.#ledgers.holderOf(ledger, seq).id, seq)?.['path'] as string | undefined,
    );
  }

  #readInbox(request: RequestOf<'inbox'>): readonly InboxEntry[] {
    return this.#inbox
      .all(this.#ledgers.get(request).id, 0, mostRows)
      .map(({ actor, data, settles, ...entry }) => {
        return {
          ...entry,
          by: actor,
          data: JSON.parse(data as string),
          ...(settles === null ? {} : { settles }),
        } as InboxEntry;
      });
  }

  #readShared({
    tenant,
    app,
    scope,
    scopeId,
  }: RequestOf<'readShared'>): Readonly<Record<string, SharedValue>> {
    const rows = this.#shared.all(tenant, app, scope, scopeId);
    return Object.fromEntries(
      rows.map(({ key, value, version }) => [
        key,
        { value: storedValue(value), version: version as number },
      ]),
    );
  }
}

/** A key that was deleted has no value. */
function storedValue(stored: unknown): JsonValue | undefined {
  return typeof stored === 'string' ? (JSON.parse(stored) as JsonValue) : undefined;
}
