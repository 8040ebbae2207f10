import {
  BlobMissingError,
  LedgerConflictError,
  SessionExistsError,
  SessionNotFoundError,
  type StoreUnavailableError,
} from '../../ledger/errors.ts';
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
  PostReceipt,
  ReadRange,
  ReleaseOptions,
  ReleaseReceipt,
  RequestFilter,
  RequestRow,
  RequestSettlement,
  SessionListing,
  SharedValue,
  StoredEvent,
} from '../../ledger/port.ts';
import { decodeEvent, isCurrent, orUnreadable } from '../../ledger/upcast.ts';
import { checkBatch, checkForkPoint, checkLimit, checkNumbers, checkSnapshot } from '../batch.ts';
import { Followers } from '../followers.ts';
import { compareListings, isListed } from '../listing.ts';
import type { OwnerSurvey } from '../owner.ts';
import { checkRequests } from '../requests.ts';
import type { RisingClock } from '../rising-clock.ts';
import { MemoryBlobs } from './blobs.ts';
import { longestDue } from './due.ts';
import { MemoryLedger } from './ledger.ts';
import { MemoryRequests } from './requests.ts';
import { MemorySharedState } from './shared.ts';

/** The ledgers of one tenant and app in memory. */
export class MemoryLedgerStore implements LedgerStore {
  readonly #scope: { readonly tenant: string; readonly app: string };
  readonly #clock: RisingClock;
  readonly #ledgers = new Map<string, MemoryLedger>();
  readonly #blobs: MemoryBlobs;
  readonly #shared = new MemorySharedState();
  readonly #requests = new MemoryRequests();
  readonly #followers = new Followers();
  /**
   * No new ledger begins under a lower epoch. So the writer of a deleted ledger finds none that
   * looks like its own.
   */
  #firstEpoch = 0;
  #closed: StoreUnavailableError | undefined;

  constructor(scope: { readonly tenant: string; readonly app: string }, clock: RisingClock) {
    this.#scope = { tenant: scope.tenant, app: scope.app };
    this.#clock = clock;
    this.#blobs = new MemoryBlobs(this.#scope);
  }

  get app(): string {
    return this.#scope.app;
  }

  close(closed: StoreUnavailableError): void {
    this.#closed = closed;
    this.#followers.fail(closed);
  }

  async append(session: string, expected: Head, batch: Batch): Promise<AppendReceipt> {
    this.#checkOpen();
    const { events, shared, requests, settles } = batch;
    checkBatch(session, expected, events);
    checkRequests(session, requests);
    const ledger = this.#ledgers.get(session);
    if (ledger === undefined) {
      throw new LedgerConflictError({
        session,
        expected: { seq: expected.seq, epoch: expected.epoch },
        found: { seq: 0, epoch: 0 },
      });
    }
    const now = this.#clock.now();
    if (!ledger.checkHead(expected, events)) {
      if (batch.blobs !== undefined) for (const address of batch.blobs) this.#blobs.get(address);
      if (shared !== undefined) {
        this.#shared.check(shared);
        this.#shared.write(shared);
      }
      ledger.write(batch, now);
      if (requests !== undefined) this.#requests.open(requests);
      if (settles !== undefined) this.#requests.settlePending(session, settles, now);
      this.#followers.wake(session);
    }
    const { epoch, inboxSeq } = ledger.head;
    return { seq: expected.seq + events.length, epoch, inboxSeq, now };
  }

  async *read(
    session: string,
    range: ReadRange = {},
  ): AsyncGenerator<readonly Event[], void, undefined> {
    yield* this.#read(this.#find(session), range);
  }

  async *readStored(
    session: string,
    range: ReadRange = {},
  ): AsyncGenerator<readonly StoredEvent[], void, undefined> {
    for (const page of this.#pages(this.#find(session), range)) {
      yield page.map((event) =>
        orUnreadable(
          event.seq,
          () => event,
          () => decodeEvent(event, session),
        ),
      );
    }
  }

  *#read(ledger: MemoryLedger, range: ReadRange): Generator<readonly Event[], void, undefined> {
    for (const page of this.#pages(ledger, range)) {
      yield page.every(isCurrent) ? page : page.map((event) => decodeEvent(event, ledger.session));
    }
  }

  /** Yields the pages of one ledger, and never of another that has got its id meanwhile. */
  *#pages(ledger: MemoryLedger, range: ReadRange): Generator<readonly Event[], void, undefined> {
    for (const page of ledger.pages(range.after ?? 0, range.upTo ?? Number.POSITIVE_INFINITY)) {
      this.#checkAlive(ledger);
      yield page;
    }
    this.#checkAlive(ledger);
  }

  async head(session: string): Promise<LedgerHead | undefined> {
    this.#checkOpen();
    return this.#ledgers.get(session)?.head;
  }

  async now(): Promise<number> {
    this.#checkOpen();
    return this.#clock.now();
  }

  async claim(session: string, owner: string, options: ClaimOptions): Promise<Claim> {
    this.#checkOpen();
    const now = this.#clock.now();
    const ledger = this.#ledgers.get(session) ?? new MemoryLedger(session, now, this.#firstEpoch);
    const claim = ledger.claim(owner, options, now);
    this.#ledgers.set(session, ledger);
    return claim;
  }

  async renew(claim: Claim): Promise<AppendReceipt> {
    this.#checkOpen();
    const ledger = this.#ledgers.get(claim.session);
    if (ledger !== undefined) return ledger.renew(claim, this.#clock.now());
    throw new LedgerConflictError({
      session: claim.session,
      expected: { seq: claim.seq, epoch: claim.epoch },
      found: { seq: 0, epoch: 0 },
    });
  }

  async release(claim: Claim, options: ReleaseOptions = {}): Promise<ReleaseReceipt> {
    this.#checkOpen();
    return {
      ...(this.#ledgers.get(claim.session)?.release(claim, options) ?? {
        released: true,
        inboxSeq: 0,
      }),
      now: this.#clock.now(),
    };
  }

  async post(session: string, item: InboxItem): Promise<PostReceipt> {
    const ledger = this.#find(session);
    const now = this.#clock.now();
    if (ledger.hasPosted(item.key)) return { inboxSeq: ledger.head.inboxSeq, duplicate: true, now };
    if (item.settles !== undefined) this.#requests.answer(session, item.settles, item.by, now);
    return { ...ledger.post(item), now };
  }

  async inbox(session: string): Promise<readonly InboxEntry[]> {
    return this.#find(session).inbox();
  }

  follow(session: string, afterSeq: number, signal: AbortSignal): AsyncIterable<Event> {
    let followed: MemoryLedger | undefined;
    const read = async function* (
      this: MemoryLedgerStore,
      after: number,
    ): AsyncGenerator<readonly Event[], void, undefined> {
      followed ??= this.#find(session);
      yield* this.#read(followed, { after });
    };
    return this.#followers.follow(session, afterSeq, signal, read.bind(this));
  }

  async fork(
    session: string,
    atSeq: number,
    newSession: string,
    first: readonly Event[] = [],
  ): Promise<void> {
    const ledger = this.#find(session);
    checkForkPoint(session, atSeq, ledger.seq);
    checkNumbers(newSession, atSeq, first);
    if (this.#ledgers.has(newSession)) throw new SessionExistsError({ session: newSession });
    const now = this.#clock.now();
    const fork = ledger.fork(atSeq, newSession, now, this.#firstEpoch);
    if (first.length > 0) fork.write({ events: first }, now);
    this.#ledgers.set(newSession, fork);
  }

  async putBlob(bytes: Uint8Array, address?: string): Promise<string> {
    this.#checkOpen();
    return this.#blobs.put(bytes, this.#clock.now(), address);
  }

  async addressKey(): Promise<Uint8Array> {
    this.#checkOpen();
    return this.#blobs.key.slice();
  }

  async getBlob(address: string, session?: string): Promise<Uint8Array> {
    this.#checkOpen();
    if (session !== undefined && this.#ledgers.get(session)?.refersTo(address) !== true)
      throw new BlobMissingError({ address });
    return this.#blobs.get(address).slice();
  }

  async readShared(scope: string, scopeId: string): Promise<Readonly<Record<string, SharedValue>>> {
    this.#checkOpen();
    return this.#shared.read(scope, scopeId);
  }

  async sessionsOfRun(
    run: string,
    options: { readonly limit?: number } = {},
  ): Promise<readonly string[]> {
    this.#checkOpen();
    const limit = checkLimit('sessions', options.limit);
    return [...this.#ledgers.values()]
      .filter((ledger) => ledger.hasRun(run))
      .map((ledger) => ledger.listing)
      .sort(compareListings('updatedAt'))
      .slice(0, limit)
      .map(({ id }) => id);
  }

  async list(options: ListOptions = {}): Promise<readonly SessionListing[]> {
    this.#checkOpen();
    const limit = checkLimit('sessions', options.limit);
    const { id } = options;
    const named =
      id === undefined
        ? this.#ledgers.values()
        : [this.#ledgers.get(id)].filter((ledger) => ledger !== undefined);
    return Array.from(named, (ledger) => ledger.listing)
      .filter((listing) => isListed(listing, options))
      .sort(compareListings(options.order))
      .slice(0, limit);
  }

  async requests(filter: RequestFilter = {}): Promise<readonly RequestRow[]> {
    this.#checkOpen();
    return this.#requests.list(filter, checkLimit('requests', filter.limit));
  }

  async settle(session: string, settlement: RequestSettlement): Promise<void> {
    this.#checkOpen();
    this.#requests.settle(session, settlement, this.#clock.now());
  }

  async due(options: { readonly limit?: number } = {}): Promise<readonly DueSession[]> {
    this.#checkOpen();
    return longestDue([this], this.#clock.now(), checkLimit('sessions', options.limit));
  }

  dueSessions(
    now: number,
    owners: OwnerSurvey,
  ): { readonly since: number; readonly session: DueSession }[] {
    const due = [];
    for (const ledger of this.#ledgers.values()) {
      const since = ledger.dueSince(now, owners);
      if (since !== undefined)
        due.push({ since, session: { ...this.#scope, session: ledger.session } });
    }
    return due;
  }

  async delete(session: string, options: DeleteOptions = {}): Promise<void> {
    const ledger = this.#find(session);
    const deleted =
      options.erase === true
        ? [...ledger.family()].filter((relative) => !relative.isDeleted)
        : [ledger];
    const left = new Set(deleted.flatMap((each) => [...each.blobsInUse()]));
    for (const each of deleted) {
      this.#firstEpoch = Math.max(this.#firstEpoch, each.head.epoch + 1);
      this.#ledgers.delete(each.session);
      this.#requests.forget(each.session);
      each.delete();
      this.#followers.wake(each.session);
    }
    if (left.size > 0) this.#blobs.remove(left, this.#blobsInUse());
  }

  async putSnapshot(session: string, snapshot: FoldSnapshot): Promise<void> {
    const ledger = this.#find(session);
    checkSnapshot(session, snapshot.seq, ledger.seq);
    ledger.putSnapshot(snapshot);
  }

  async getSnapshot(session: string, key: string, upTo: number): Promise<FoldSnapshot | undefined> {
    this.#checkOpen();
    return this.#ledgers.get(session)?.getSnapshot(key, upTo);
  }

  sweepBlobs(before: number): number {
    return this.#blobs.sweep(this.#blobsInUse(), before);
  }

  #blobsInUse(): ReadonlySet<string> {
    const used = new Set<string>();
    for (const ledger of this.#ledgers.values())
      for (const address of ledger.blobsInUse()) used.add(address);
    return used;
  }

  #find(session: string): MemoryLedger {
    this.#checkOpen();
    const ledger = this.#ledgers.get(session);
    if (ledger === undefined) throw new SessionNotFoundError({ session, app: this.#scope.app });
    return ledger;
  }

  #checkAlive(ledger: MemoryLedger): void {
    this.#checkOpen();
    if (ledger.isDeleted)
      throw new SessionNotFoundError({ session: ledger.session, app: this.#scope.app });
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw this.#closed;
  }
}
