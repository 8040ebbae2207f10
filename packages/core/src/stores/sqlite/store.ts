import type { Clock } from '../../base/clock.ts';
import { blobAddress } from '../../ledger/blob-address.ts';
import { StoreUnavailableError } from '../../ledger/errors.ts';
import type { Event } from '../../ledger/event.ts';
import type {
  AppendReceipt,
  Batch,
  Claim,
  ClaimOptions,
  Head,
  InboxEntry,
  InboxItem,
  LedgerStore,
  PostReceipt,
  ReadRange,
  ReleaseOptions,
  ReleaseReceipt,
  SessionListing,
  SharedValue,
  Store,
} from '../../ledger/port.ts';
import { checkBatch, checkListLimit } from '../batch.ts';
import { Followers } from '../followers.ts';
import { type EventFields, encodeEvent } from './codec.ts';
import type { WorkerConnection } from './connection.ts';
import { PageDecoder } from './page.ts';
import type { ReadPage, ScopeAddress, SessionAddress } from './protocol.ts';

/** How often a store looks for appends of other processes while somebody follows. */
const pollMs = 50;

/** The store on the main thread: encodes, decodes and wakes followers; the worker does the rest. */
export class SqliteStore implements Store {
  readonly description: string;
  readonly #connection: WorkerConnection;
  readonly #clock: Clock;
  readonly #followers: Followers;
  #cancelPoll: (() => void) | undefined;
  #dataVersion: number | undefined;
  #following = false;

  constructor(path: string, connection: WorkerConnection, clock: Clock) {
    this.description = path;
    this.#connection = connection;
    this.#clock = clock;
    this.#followers = new Followers((count) => this.#watch(count > 0));
  }

  for(scope: ScopeAddress): LedgerStore {
    return new SqliteLedgerStore({ tenant: scope.tenant, app: scope.app }, this.#connection, this.#clock, this.#followers);
  }

  async close(): Promise<void> {
    this.#watch(false);
    this.#followers.fail(new StoreUnavailableError({ store: this.description, reason: 'it has been closed', permanent: true }));
    await this.#connection.close();
  }

  #watch(following: boolean): void {
    if (this.#following === following) return;
    this.#following = following;
    this.#cancelPoll?.();
    this.#cancelPoll = undefined;
    this.#dataVersion = undefined;
    if (following) this.#schedulePoll();
  }

  #schedulePoll(): void {
    this.#cancelPoll = this.#clock.setTimer(pollMs, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    try {
      const version = await this.#connection.request('dataVersion', null);
      // The first answer says nothing about what happened before it.
      if (version !== this.#dataVersion) this.#followers.wakeAll();
      this.#dataVersion = version;
    } catch {
      // Followers read again and meet the failure themselves.
      this.#followers.wakeAll();
    }
    if (this.#following) this.#schedulePoll();
  }
}

class SqliteLedgerStore implements LedgerStore {
  readonly #scope: ScopeAddress;
  readonly #connection: WorkerConnection;
  readonly #clock: Clock;
  readonly #followers: Followers;

  constructor(scope: ScopeAddress, connection: WorkerConnection, clock: Clock, followers: Followers) {
    this.#scope = scope;
    this.#connection = connection;
    this.#clock = clock;
    this.#followers = followers;
  }

  async append(session: string, expected: Head, batch: Batch): Promise<AppendReceipt> {
    checkBatch(session, expected, batch.events);
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
      summary: batch.summary,
      wakeAt: batch.wakeAt,
    });
    this.#followers.wake(this.#followKey(session));
    return receipt;
  }

  async *read(session: string, range: ReadRange = {}): AsyncGenerator<readonly Event[], void, undefined> {
    const address = this.#address(session);
    const decoder = new PageDecoder(this.#connection, address);
    let request = this.#requestPage(address, range.after ?? 0, range.upTo);
    for (;;) {
      const page = await request;
      // The worker prepares the next page while this one is decoded and used.
      if (page.more) {
        request = this.#requestPage(address, page.through, range.upTo);
        this.#connection.flush();
      }
      if (page.through > page.after) yield await decoder.decode(page);
      if (!page.more) return;
    }
  }

  head(session: string): Promise<AppendReceipt | undefined> {
    return this.#connection.request('head', this.#address(session));
  }

  claim(session: string, owner: string, options: ClaimOptions): Promise<Claim> {
    const { ttl, force = false } = options;
    return this.#connection.request('claim', { ...this.#address(session), owner, ttl, force, now: this.#clock.now() });
  }

  renew(claim: Claim): Promise<AppendReceipt> {
    return this.#connection.request('renew', { ...this.#scope, claim: { ...claim }, now: this.#clock.now() });
  }

  release(claim: Claim, options: ReleaseOptions = {}): Promise<ReleaseReceipt> {
    return this.#connection.request('release', { ...this.#scope, claim: { ...claim }, inboxSeq: options.inboxSeq });
  }

  post(session: string, item: InboxItem): Promise<PostReceipt> {
    return this.#connection.request('post', { ...this.#address(session), item });
  }

  inbox(session: string): Promise<readonly InboxEntry[]> {
    return this.#connection.request('inbox', this.#address(session));
  }

  follow(session: string, afterSeq: number, signal: AbortSignal): AsyncIterable<Event> {
    return this.#followers.follow(this.#followKey(session), afterSeq, signal, (after) => this.read(session, { after }));
  }

  async fork(session: string, atSeq: number, newSession: string): Promise<void> {
    await this.#connection.request('fork', { ...this.#address(session), atSeq, newSession, now: this.#clock.now() });
  }

  async putBlob(bytes: Uint8Array): Promise<string> {
    const address = blobAddress(this.#scope, bytes);
    await this.#connection.request('putBlob', { ...this.#scope, address, bytes, now: this.#clock.now() });
    return address;
  }

  getBlob(address: string): Promise<Uint8Array> {
    return this.#connection.request('getBlob', { ...this.#scope, address });
  }

  readShared(scope: string, scopeId: string): Promise<Readonly<Record<string, SharedValue>>> {
    return this.#connection.request('readShared', { ...this.#scope, scope, scopeId });
  }

  async list(
    options: { readonly limit?: number; readonly before?: Pick<SessionListing, 'updatedAt' | 'id'> } = {},
  ): Promise<readonly SessionListing[]> {
    const before = options.before === undefined ? undefined : { updatedAt: options.before.updatedAt, id: options.before.id };
    return this.#connection.request('list', { ...this.#scope, limit: checkListLimit(options.limit), before });
  }

  #requestPage(address: SessionAddress, after: number, upTo: number | undefined): Promise<ReadPage> {
    const page = this.#connection.request('read', { ...address, after, upTo });
    // A reader that stops early never asks for a page that was prepared, so its failure must not go unhandled.
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
