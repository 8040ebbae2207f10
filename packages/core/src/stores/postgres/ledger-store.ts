import { defined } from '../../base/defined.ts';
import { blobAddress } from '../../ledger/blobs/blob-address.ts';
import { BlobMissingError, SessionNotFoundError } from '../../ledger/errors.ts';
import type { Event } from '../../ledger/event.ts';
import type {
  AppendReceipt,
  Batch,
  Claim,
  ClaimOptions,
  DeleteOptions,
  DueSession,
  FoldSnapshot,
  Head,
  InboxEntry,
  InboxItem,
  LedgerHead,
  LedgerStore,
  ListOptions,
  PendingSend,
  PostOptions,
  PostReceipt,
  ReadRange,
  ReleaseOptions,
  ReleaseReceipt,
  RequestFilter,
  RequestRow,
  RequestSettlement,
  RowFilter,
  SendFilter,
  SessionListing,
  SharedValue,
  StoredEvent,
  StoredRow,
  TurnExplanation,
  TurnFilter,
  TurnRow,
  TurnScope,
} from '../../ledger/port.ts';
import type { AddressKeys } from '../address-key.ts';
import { checkBatch, checkLimit, checkNumbers } from '../batch.ts';
import { isOwnerGone } from '../owner.ts';
import { checkRequests } from '../requests.ts';
import type { Database } from './database.ts';
import {
  appendRequest,
  type StoredScope,
  storedEvents,
  storedItem,
  storedSettlement,
} from './encoding.ts';
import type { Following } from './following.ts';
import { PageReader } from './page.ts';
import {
  queryBirth,
  queryDue,
  queryHead,
  queryInbox,
  queryListings,
  queryRequests,
  querySessionsOfRun,
  queryShared,
  querySnapshot,
} from './queries.ts';
import { type Asked, checkReply } from './refusal.ts';
import { fromStorable, toStorable } from './storable-text.ts';
import { postReceipt, storedPatch, storedPostOptions } from './turns/encoding.ts';
import {
  deleteSends,
  queryExplanation,
  queryRows,
  querySends,
  queryTurns,
} from './turns/queries.ts';
import type { WriteGroups, WriteReply, WriteRequest } from './write-groups.ts';

/** The collaborators that the ledgers of all tenants and apps of one store share. */
export interface StoreParts {
  readonly database: Database;
  readonly writes: WriteGroups;
  readonly following: Following;
  readonly addressKeys: AddressKeys;
  /** Epoch milliseconds that replace the clock of the database; `null` to use that clock. */
  readonly fixedNow: () => number | null;
}

/** The ledgers of one tenant and app in PostgreSQL. */
export class PostgresLedgerStore implements LedgerStore {
  readonly #scope: { readonly tenant: string; readonly app: string };
  readonly #stored: StoredScope;
  readonly #parts: StoreParts;
  readonly #puts: Map<string, Promise<unknown>> = new Map();

  constructor(scope: { readonly tenant: string; readonly app: string }, parts: StoreParts) {
    this.#scope = { tenant: scope.tenant, app: scope.app };
    this.#stored = { tenant: toStorable(scope.tenant), app: toStorable(scope.app) };
    this.#parts = parts;
  }

  async append(session: string, expected: Head, batch: Batch): Promise<AppendReceipt> {
    checkBatch(session, expected, batch.events);
    checkRequests(session, batch.requests);
    const request = appendRequest(this.#stored, session, expected, batch);
    const reply = await this.#write(
      request,
      { ...this.#asked(session), expected },
      this.#putsOf(batch.blobs),
    );
    this.#parts.following.changed({ ...this.#scope, session }, this.#parts.writes.isHeard);
    return reply as unknown as AppendReceipt;
  }

  read(session: string, range: ReadRange = {}): AsyncIterable<readonly Event[]> {
    return this.#reader(session).events(range);
  }

  readStored(session: string, range: ReadRange = {}): AsyncIterable<readonly StoredEvent[]> {
    return this.#reader(session).storedEvents(range);
  }

  head(session: string): Promise<LedgerHead | undefined> {
    return queryHead(this.#parts.database, this.#stored, session);
  }

  birth(session: string): Promise<string | undefined> {
    return queryBirth(this.#parts.database, this.#stored, session);
  }

  async now(): Promise<number> {
    return Number(
      await this.#parts.database.call('select {s}.now_ms($1::bigint)::text', [
        this.#parts.fixedNow(),
      ]),
    );
  }

  async claim(
    session: string,
    owner: string,
    { ttlMs, force = false }: ClaimOptions,
  ): Promise<Claim> {
    const request = {
      ...this.#request('claim', session),
      owner: toStorable(owner),
      ttl: ttlMs,
      force,
    };
    let reply = await this.#parts.writes.send(request);
    // Only this process can tell that an owner on its machine is gone. The database checks that no
    // other writer has claimed since.
    if (reply.refused === 'session_busy' && isOwnerGone(fromStorable(String(reply['owner'])))) {
      reply = await this.#parts.writes.send({ ...request, gone: String(reply['owner']) });
    }
    return {
      session,
      owner,
      ...(checkReply(reply, this.#asked(session)) as Omit<Claim, 'session' | 'owner'>),
    };
  }

  async renew({ session, seq, epoch }: Claim): Promise<AppendReceipt> {
    const request = { ...this.#request('renew', session), epoch };
    return (await this.#write(request, {
      ...this.#asked(session),
      expected: { seq, epoch },
    })) as unknown as AppendReceipt;
  }

  async release(
    { session, epoch }: Claim,
    { inboxSeq, turn }: ReleaseOptions = {},
  ): Promise<ReleaseReceipt> {
    const request = {
      ...this.#request('release', session),
      ...{ epoch, inboxSeq: inboxSeq ?? null },
      ...(turn === undefined ? {} : { turn: storedPatch(turn) }),
    };
    return (await this.#write(request, this.#asked(session))) as unknown as ReleaseReceipt;
  }

  async post(session: string, item: InboxItem, options: PostOptions = {}): Promise<PostReceipt> {
    const request = {
      ...this.#request('post', session),
      item: storedItem(item),
      ...storedPostOptions(options),
    };
    const asked = {
      ...this.#asked(session),
      ...defined({ requestId: item.settles, birth: options.birth }),
    };
    return postReceipt(await this.#write(request, asked));
  }

  async inbox(session: string): Promise<readonly InboxEntry[]> {
    const entries = await queryInbox(this.#parts.database, this.#stored, session);
    if (entries === undefined) throw new SessionNotFoundError({ session, app: this.#scope.app });
    return entries;
  }

  follow(session: string, afterSeq: number, signal: AbortSignal): AsyncIterable<Event> {
    const reader = this.#reader(session);
    return this.#parts.following.follow({ ...this.#scope, session }, afterSeq, signal, (after) =>
      reader.events({ after }),
    );
  }

  async fork(
    session: string,
    atSeq: number,
    newSession: string,
    first: readonly Event[] = [],
  ): Promise<void> {
    checkNumbers(newSession, atSeq, first);
    // A number that is not whole lies outside of every ledger.
    const seq = Number.isSafeInteger(atSeq) ? atSeq : -1;
    const values = [
      ...this.#address(session),
      seq,
      toStorable(newSession),
      JSON.stringify(storedEvents(first)),
      this.#parts.fixedNow(),
    ];
    const reply = await this.#callOnce(
      'select {s}.fork($1, $2, $3, $4::bigint, $5, $6::jsonb, $7::bigint)::text',
      values,
    );
    if (reply.refused === 'session_exists') checkReply(reply, this.#asked(newSession));
    checkReply(reply, { ...this.#asked(session), seq: atSeq });
  }

  addressKey(): Promise<Uint8Array> {
    return this.#parts.addressKeys.of(this.#scope);
  }

  async putBlob(given: Uint8Array, known?: string): Promise<string> {
    const { database, fixedNow } = this.#parts;
    // A copy: the statement may be sent later, and the caller may change its bytes.
    const bytes = Buffer.from(given);
    const address = known ?? blobAddress(this.#scope, bytes, await this.addressKey());
    const put = database.query(
      `insert into {s}.blobs (address, tenant, app, put_at, bytes)
        values ($1, $2, $3, {s}.now_ms($4::bigint), $5)
        on conflict (address) do update set put_at = excluded.put_at`,
      [address, this.#stored.tenant, this.#stored.app, fixedNow(), bytes],
    );
    this.#puts.set(address, put);
    try {
      await put;
    } finally {
      if (this.#puts.get(address) === put) this.#puts.delete(address);
    }
    return address;
  }

  async getBlob(address: string, session?: string): Promise<Uint8Array> {
    const { tenant, app } = this.#stored;
    const bytes = await this.#parts.database.call('select {s}.get_blob($1, $2, $3, $4)', [
      ...[toStorable(address), tenant, app],
      session === undefined ? null : toStorable(session),
    ]);
    if (!(bytes instanceof Uint8Array)) throw new BlobMissingError({ address });
    return bytes as Uint8Array;
  }

  readShared(scope: string, scopeId: string): Promise<Readonly<Record<string, SharedValue>>> {
    return queryShared(this.#parts.database, this.#stored, scope, scopeId);
  }

  async list(options: ListOptions = {}): Promise<readonly SessionListing[]> {
    return queryListings(
      this.#parts.database,
      this.#stored,
      options,
      checkLimit('sessions', options.limit),
    );
  }

  async sessionsOfRun(
    run: string,
    options: { readonly limit?: number } = {},
  ): Promise<readonly string[]> {
    const limit = checkLimit('sessions', options.limit);
    return querySessionsOfRun(this.#parts.database, this.#stored, run, limit);
  }

  async requests(filter: RequestFilter = {}): Promise<readonly RequestRow[]> {
    return queryRequests(
      this.#parts.database,
      this.#stored,
      filter,
      checkLimit('requests', filter.limit),
    );
  }

  async settle(session: string, settlement: RequestSettlement): Promise<void> {
    const request = {
      ...this.#request('settle', session),
      settlement: storedSettlement(settlement),
    };
    await this.#write(request, { ...this.#asked(session), requestId: settlement.requestId });
  }

  async turn(session: string): Promise<TurnRow | undefined> {
    const [turn] = await queryTurns(this.#parts.database, this.#stored, { session }, 1);
    return turn;
  }

  async turns(filter: TurnFilter = {}): Promise<readonly TurnRow[]> {
    const limit = checkLimit('turns', filter.limit);
    return queryTurns(this.#parts.database, this.#stored, filter, limit);
  }

  explainTurn(session: string, scope: TurnScope): Promise<TurnExplanation | undefined> {
    const { database, fixedNow } = this.#parts;
    return queryExplanation(database, this.#scope, session, scope, fixedNow());
  }

  async rows(filter: RowFilter): Promise<readonly StoredRow[]> {
    const { database, fixedNow } = this.#parts;
    const limit = checkLimit('rows', filter.limit);
    return queryRows(database, this.#stored, filter, limit, fixedNow());
  }

  async sends(filter: SendFilter = {}): Promise<readonly PendingSend[]> {
    const { database, fixedNow } = this.#parts;
    const limit = checkLimit('sends', filter.limit);
    const sends = await querySends(database, this.#stored, filter, limit, fixedNow());
    return sends.map(({ tenant: _, ...send }) => send);
  }

  sent(session: string, numbers: readonly number[]): Promise<void> {
    return deleteSends(this.#parts.database, this.#stored, session, numbers);
  }

  async due(options: { readonly limit?: number } = {}): Promise<readonly DueSession[]> {
    return queryDue(
      this.#parts.database,
      this.#stored,
      checkLimit('sessions', options.limit),
      this.#parts.fixedNow(),
    );
  }

  async delete(session: string, { erase = false }: DeleteOptions = {}): Promise<void> {
    const reply = await this.#callOnce(
      'select {s}.delete_session($1, $2, $3, $4::boolean, $5::bigint)::text',
      [...this.#address(session), erase, this.#parts.fixedNow()],
    );
    checkReply(reply, this.#asked(session));
    if (erase) this.#parts.following.anythingChanged();
    else this.#parts.following.changed({ ...this.#scope, session }, true);
  }

  async putSnapshot(session: string, { key, seq, value }: FoldSnapshot): Promise<void> {
    const place = Number.isSafeInteger(seq) ? seq : -1;
    const values = [...this.#address(session), toStorable(key), place, JSON.stringify(value)];
    const text = await this.#parts.database.call(
      'select {s}.put_snapshot($1, $2, $3, $4, $5::bigint, $6)::text',
      values,
    );
    checkReply(JSON.parse(String(text)) as WriteReply, { ...this.#asked(session), seq });
  }

  getSnapshot(session: string, key: string, upTo: number): Promise<FoldSnapshot | undefined> {
    return querySnapshot(this.#parts.database, this.#address(session), key, upTo);
  }

  async #write(request: WriteRequest, asked: Asked, after?: Promise<unknown>): Promise<WriteReply> {
    return checkReply(await this.#parts.writes.send(request, after), asked);
  }

  /**
   * Calls a function that replies like the writing ones, and would reply otherwise the second time.
   */
  async #callOnce(statement: string, values: unknown[]): Promise<WriteReply> {
    return JSON.parse(String(await this.#parts.database.callOnce(statement, values))) as WriteReply;
  }

  /** Waits for the puts under way of blobs that a batch refers to. */
  #putsOf(addresses: readonly string[] = []): Promise<unknown> | undefined {
    const puts = addresses.flatMap((address) => this.#puts.get(address) ?? []);
    return puts.length === 0 ? undefined : Promise.allSettled(puts);
  }

  #reader(session: string): PageReader {
    return new PageReader(this.#parts.database, { ...this.#scope, session });
  }

  #request<Op extends WriteRequest['op']>(op: Op, session: string): WriteRequest {
    return { op, ...this.#stored, session: toStorable(session) };
  }

  #address(session: string): [tenant: string, app: string, session: string] {
    return [this.#stored.tenant, this.#stored.app, toStorable(session)];
  }

  #asked(session: string): Asked {
    return { store: this.#parts.database.description, app: this.#scope.app, session };
  }
}
