import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { defined } from '../../base/defined.ts';
import { SessionGoneError, SessionNotFoundError } from '../../ledger/errors.ts';
import type { InboxItem, PostReceipt } from '../../ledger/port.ts';
import { type PostVerdict, TurnPosts } from '../turns/turn-posts.ts';
import type { SessionAddress, WriteOperations } from './protocol.ts';
import type { LedgerRow, LedgerRows } from './rows/ledger-rows.ts';
import type { ListedRows } from './rows/listed-rows.ts';
import type { NewLedgers } from './rows/new-ledgers.ts';
import type { RequestRows } from './rows/request-rows.ts';
import { rowId } from './rows/rows-by-id.ts';
import type { TombstoneRows } from './rows/tombstone-rows.ts';
import type { TurnRows } from './rows/turn-rows.ts';

type PostRequest = WriteOperations['post']['request'];

export interface PostTables {
  readonly ledgers: LedgerRows;
  readonly newLedgers: NewLedgers;
  readonly requests: RequestRows;
  readonly turns: TurnRows;
  readonly listedRows: ListedRows;
  readonly tombstones: TombstoneRows;
}

/** Posts to sessions. */
export class Posts {
  readonly #tables: PostTables;
  readonly #turns: TurnPosts;
  readonly #isPosted: StatementSync;
  readonly #markPosted: StatementSync;
  readonly #insertItem: StatementSync;
  readonly #raiseInbox: StatementSync;
  readonly #inboxSeq: StatementSync;

  constructor(database: DatabaseSync, tables: PostTables) {
    const prepare = (sql: string): StatementSync => database.prepare(sql);
    this.#tables = tables;
    this.#turns = new TurnPosts(tables.turns);
    this.#isPosted = prepare('select 1 from posted where ledger = ? and key = ?');
    this.#markPosted = prepare('insert or ignore into posted (ledger, key) values (?, ?)');
    this.#insertItem = prepare(
      'insert into inbox (id, key, lane, actor, at, type, data, settles, wakes, has_turn) values ' +
        `(${rowId('?', '?')}, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#raiseInbox = prepare('update ledgers set inbox_seq = ? where id = ?');
    this.#inboxSeq = prepare('select inbox_seq from ledgers where id = ?');
  }

  /**
   * Checks all reasons for a refusal before its first write.
   * @throws SessionNotFoundError, SessionGoneError, QueueFullError, RequestNotFoundError,
   * RequestSettledError
   */
  post(request: PostRequest): PostReceipt {
    const { tenant, app, session, item, options, now } = request;
    const found = this.#meant(request);
    if (found !== undefined && this.#hasPosted(found.id, item.key))
      return { inboxSeq: found.inbox_seq, duplicate: true, now };
    const place = { tenant, app, session, ledger: found?.id };
    const verdict = this.#turns.judge(place, options);
    if (verdict.kind !== 'post') return this.#postToOther(verdict, request);
    const { requests, newLedgers, listedRows } = this.#tables;
    // A session that does not exist has no requests.
    if (item.settles !== undefined)
      requests.checkAnswer(request, found?.id ?? 0, item.settles, now);
    const ledger = found?.id ?? newLedgers.make(request, now, true).id;
    const position = this.#add(ledger, found, item, options.wakes ?? true);
    if (item.settles !== undefined) requests.answer(request, ledger, item.settles, item.by, now);
    if (request.rows !== undefined) listedRows.write(request, ledger, request.rows);
    const identity = { tenant, app, session, ledger };
    this.#turns.posted(identity, options, item.lane === 'control', now);
    return { inboxSeq: position, duplicate: false, now };
  }

  /** The ledger that a post means; `undefined` when the post is to make it. */
  #meant(request: SessionAddress & Pick<PostRequest, 'options'>): LedgerRow | undefined {
    const { session, app } = request;
    const { birth, open = false } = request.options;
    const found = this.#tables.ledgers.find(request);
    const isAnother = birth !== undefined && (found === undefined || birth !== String(found.id));
    if (isAnother || (open && found === undefined && this.#tables.tombstones.has(request)))
      throw new SessionGoneError({ session, birth });
    if (found === undefined && !open) throw new SessionNotFoundError({ session, app });
    return found;
  }

  #hasPosted(ledger: number, key: string): boolean {
    return this.#isPosted.get(ledger, key) !== undefined;
  }

  #add(ledger: number, found: LedgerRow | undefined, item: InboxItem, wakes: boolean): number {
    const position = (found?.inbox_seq ?? 0) + 1;
    this.#markPosted.run(ledger, item.key);
    this.#insertItem.run(
      ledger,
      position,
      item.key,
      item.lane,
      item.by,
      item.at,
      item.type,
      JSON.stringify(item.data),
      item.settles ?? null,
      Number(wakes),
      found?.has_turn ?? 0,
    );
    this.#raiseInbox.run(position, ledger);
    return position;
  }

  /** Carries out a post that adds no item: its turn joins another, or one interest ends. */
  #postToOther(
    { kind, turn }: Exclude<PostVerdict, { readonly kind: 'post' }>,
    { item, options, now }: PostRequest,
  ): PostReceipt {
    const inboxSeq = this.#inboxSeq.get(turn.ledger)?.['inbox_seq'] as number;
    const duplicate = this.#hasPosted(turn.ledger, item.key);
    this.#markPosted.run(turn.ledger, item.key);
    if (kind === 'left') {
      this.#turns.leave(turn);
      return { inboxSeq, duplicate, now, left: true };
    }
    if (!duplicate) this.#turns.join(turn, options.turn ?? {}, now);
    const joined = { session: turn.session, ...defined({ run: turn.run }) };
    return { inboxSeq, duplicate, now, joined };
  }
}
