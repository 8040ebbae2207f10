import type { Clock } from '../../base/clock.ts';
import { blobAddress } from '../../ledger/blobs/blob-address.ts';
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
import type { Followers } from '../followers.ts';
import { checkRequests } from '../requests.ts';
import type { WorkerConnection } from './connection.ts';
import { type EventFields, encodeEvent } from './encoding.ts';
import { PageDecoder } from './page.ts';
import type { ReadPage, ReadRequest, ScopeAddress, SessionAddress } from './protocol.ts';
import { purge } from './purge.ts';
import { requestFields, rowFields } from './row-fields.ts';

/**
 * The ledger that is read, once it is known. Another one that has got its id meanwhile is not read.
 */
interface ReadFrom {
  ledger: number | undefined;
}

interface StoreParts {
  readonly connection: WorkerConnection;
  readonly clock: Clock;
  readonly followers: Followers;
  readonly addressKeys: AddressKeys;
}

/** The ledgers of one tenant and app in the file. */
export class SqliteLedgerStore implements LedgerStore {
  readonly #scope: ScopeAddress;
  readonly #connection: WorkerConnection;
  readonly #clock: Clock;
  readonly #followers: Followers;
  readonly #addressKeys: AddressKeys;

  constructor(scope: ScopeAddress, { connection, clock, followers, addressKeys }: StoreParts) {
    this.#addressKeys = addressKeys;
    this.#scope = scope;
    this.#connection = connection;
    this.#clock = clock;
    this.#followers = followers;
  }

  async append(session: string, expected: Head, batch: Batch): Promise<AppendReceipt> {
    checkBatch(session, expected, batch.events);
    checkRequests(session, batch.requests);
    const fields: EventFields = [];
    for (const event of batch.events) encodeEvent(event, fields);
    const receipt = await this.#connection.request('append', {
      tenant: this.#scope.tenant,
      app: this.#scope.app,
      session,
      now: this.#clock.now(),
      expected: { seq: expected.seq, epoch: expected.epoch },
      fields,
      consumes: batch.consumes,
      blobs: batch.blobs,
      shared: batch.shared,
      requests: batch.requests?.map(requestFields),
      settles: batch.settles,
      summary: batch.summary,
      wakeAt: batch.wakeAt,
      sends: batch.sends?.map((send) => JSON.stringify(send)),
      turn: batch.turn,
      rows: batch.rows?.map(rowFields),
    });
    this.#followers.wake(this.#followKey(session));
    return receipt;
  }

  read(session: string, range: ReadRange = {}): AsyncGenerator<readonly Event[], void, undefined> {
    return this.#read(session, range, { ledger: undefined });
  }

  async *readStored(
    session: string,
    range: ReadRange = {},
  ): AsyncGenerator<readonly StoredEvent[], void, undefined> {
    const decoder = new PageDecoder(this.#connection, this.#address(session));
    for await (const page of this.#pages(session, range, { ledger: undefined }))
      yield await decoder.decodeStored(page);
  }

  async *#read(
    session: string,
    range: ReadRange,
    from: ReadFrom,
  ): AsyncGenerator<readonly Event[], void, undefined> {
    const decoder = new PageDecoder(this.#connection, this.#address(session));
    for await (const page of this.#pages(session, range, from)) yield await decoder.decode(page);
  }

  async *#pages(
    session: string,
    range: ReadRange,
    from: ReadFrom,
  ): AsyncGenerator<ReadPage, void, undefined> {
    const address = this.#address(session);
    let request = this.#requestPage({
      ...address,
      ledger: from.ledger,
      after: range.after ?? 0,
      upTo: range.upTo,
    });
    for (;;) {
      const page = await request;
      from.ledger = page.ledger;
      // The worker prepares the next page while this one is decoded and used.
      if (page.more) {
        request = this.#requestPage({
          ...address,
          ledger: page.ledger,
          after: page.through,
          upTo: range.upTo,
        });
        this.#connection.flush();
      }
      if (page.through > page.after) yield page;
      if (!page.more) return;
    }
  }

  head(session: string): Promise<LedgerHead | undefined> {
    return this.#connection.request('head', this.#address(session));
  }

  birth(session: string): Promise<string | undefined> {
    return this.#connection.request('birth', this.#address(session));
  }

  now(): Promise<number> {
    return this.#connection.request('now', { now: this.#clock.now() });
  }

  claim(session: string, owner: string, options: ClaimOptions): Promise<Claim> {
    const { ttlMs, force = false } = options;
    return this.#connection.request('claim', {
      ...this.#address(session),
      owner,
      ttlMs,
      force,
      now: this.#clock.now(),
    });
  }

  renew(claim: Claim): Promise<AppendReceipt> {
    return this.#connection.request('renew', {
      ...this.#scope,
      claim: { ...claim },
      now: this.#clock.now(),
    });
  }

  release(claim: Claim, options: ReleaseOptions = {}): Promise<ReleaseReceipt> {
    return this.#connection.request('release', {
      ...this.#scope,
      claim: { ...claim },
      inboxSeq: options.inboxSeq,
      turn: options.turn,
      now: this.#clock.now(),
    });
  }

  async post(
    session: string,
    item: InboxItem,
    { rows, ...options }: PostOptions = {},
  ): Promise<PostReceipt> {
    return this.#connection.request('post', {
      ...this.#address(session),
      item,
      options,
      rows: rows?.map(rowFields),
      now: this.#clock.now(),
    });
  }

  inbox(session: string): Promise<readonly InboxEntry[]> {
    return this.#connection.request('inbox', this.#address(session));
  }

  follow(session: string, afterSeq: number, signal: AbortSignal): AsyncIterable<Event> {
    const from: ReadFrom = { ledger: undefined };
    return this.#followers.follow(this.#followKey(session), afterSeq, signal, (after) =>
      this.#read(session, { after }, from),
    );
  }

  async fork(
    session: string,
    atSeq: number,
    newSession: string,
    first: readonly Event[] = [],
  ): Promise<void> {
    checkNumbers(newSession, atSeq, first);
    const fields: EventFields = [];
    for (const event of first) encodeEvent(event, fields);
    await this.#connection.request('fork', {
      ...this.#address(session),
      atSeq,
      newSession,
      fields,
      now: this.#clock.now(),
    });
  }

  addressKey(): Promise<Uint8Array> {
    return this.#addressKeys.of(this.#scope);
  }

  async putBlob(given: Uint8Array, known?: string): Promise<string> {
    // A copy: the caller may change its bytes while the secret is looked for.
    const bytes = known === undefined ? given.slice() : given;
    const address = known ?? blobAddress(this.#scope, bytes, await this.addressKey());
    await this.#connection.request('putBlob', {
      ...this.#scope,
      address,
      bytes,
      now: this.#clock.now(),
    });
    return address;
  }

  getBlob(address: string, session?: string): Promise<Uint8Array> {
    return this.#connection.request('getBlob', { ...this.#scope, address, session });
  }

  readShared(scope: string, scopeId: string): Promise<Readonly<Record<string, SharedValue>>> {
    return this.#connection.request('readShared', { ...this.#scope, scope, scopeId });
  }

  async list(options: ListOptions = {}): Promise<readonly SessionListing[]> {
    const { before, ...filter } = options;
    const place = before && {
      before: { updatedAt: before.updatedAt, createdAt: before.createdAt, id: before.id },
    };
    return this.#connection.request('list', {
      ...this.#scope,
      ...filter,
      ...place,
      limit: checkLimit('sessions', options.limit),
    });
  }

  async sessionsOfRun(
    run: string,
    options: { readonly limit?: number } = {},
  ): Promise<readonly string[]> {
    const limit = checkLimit('sessions', options.limit);
    return this.#connection.request('sessionsOfRun', { ...this.#scope, run, limit });
  }

  async requests(filter: RequestFilter = {}): Promise<readonly RequestRow[]> {
    const { after, ...rest } = filter;
    const place = after && { after: { createdAt: after.createdAt, requestId: after.requestId } };
    return this.#connection.request('requests', {
      ...this.#scope,
      filter: { ...rest, ...place },
      limit: checkLimit('requests', filter.limit),
    });
  }

  async settle(session: string, { requestId, status, by }: RequestSettlement): Promise<void> {
    const request = {
      ...this.#address(session),
      settlement: { requestId, status, by },
      now: this.#clock.now(),
    };
    await this.#connection.request('settle', request);
  }

  turn(session: string): Promise<TurnRow | undefined> {
    return this.#connection.request('turn', this.#address(session));
  }

  async turns(filter: TurnFilter = {}): Promise<readonly TurnRow[]> {
    const limit = checkLimit('turns', filter.limit);
    return this.#connection.request('turns', { ...this.#scope, filter: { ...filter }, limit });
  }

  explainTurn(session: string, scope: TurnScope): Promise<TurnExplanation | undefined> {
    return this.#connection.request('explainTurn', {
      ...this.#address(session),
      scope: { ...scope },
      now: this.#clock.now(),
    });
  }

  async rows(filter: RowFilter): Promise<readonly StoredRow[]> {
    const { after, ...rest } = filter;
    const place = after && { after: { at: after.at, id: after.id } };
    return this.#connection.request('rows', {
      ...this.#scope,
      filter: { ...rest, ...place },
      limit: checkLimit('rows', filter.limit),
      now: this.#clock.now(),
    });
  }

  async sends({ from, limit, olderThanMs = 0 }: SendFilter = {}): Promise<readonly PendingSend[]> {
    const sends = await this.#connection.request('sends', {
      scope: this.#scope,
      from,
      olderThanMs,
      limit: checkLimit('sends', limit),
      now: this.#clock.now(),
    });
    return sends.map(({ tenant, ...send }) => send);
  }

  async sent(session: string, numbers: readonly number[]): Promise<void> {
    await this.#connection.request('sent', { ...this.#address(session), numbers });
  }

  async due(options: { readonly limit?: number } = {}): Promise<readonly DueSession[]> {
    return this.#connection.request('due', {
      scope: this.#scope,
      now: this.#clock.now(),
      limit: checkLimit('sessions', options.limit),
    });
  }

  async delete(session: string, options: DeleteOptions = {}): Promise<void> {
    await this.#connection.request('delete', {
      ...this.#address(session),
      erase: options.erase === true,
      now: this.#clock.now(),
    });
    // Forks may have gone too.
    this.#followers.wakeAll();
    await purge(this.#connection);
  }

  async putSnapshot(session: string, { key, seq, value }: FoldSnapshot): Promise<void> {
    await this.#connection.request('putSnapshot', {
      ...this.#address(session),
      key,
      seq,
      text: JSON.stringify(value),
    });
  }

  getSnapshot(session: string, key: string, upTo: number): Promise<FoldSnapshot | undefined> {
    return this.#connection.request('getSnapshot', { ...this.#address(session), key, upTo });
  }

  #requestPage(request: ReadRequest): Promise<ReadPage> {
    const page = this.#connection.request('read', request);
    // A reader that stops early never asks for the next page, so its failure must not go unhandled.
    page.catch(() => undefined);
    return page;
  }

  #address(session: string): SessionAddress {
    return { tenant: this.#scope.tenant, app: this.#scope.app, session };
  }

  #followKey(session: string): string {
    return JSON.stringify([this.#scope.tenant, this.#scope.app, session]);
  }
}
