import {
  BlobMissingError,
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
  PendingSend,
  PostOptions,
  PostReceipt,
  ReadRange,
  ReleaseOptions,
  ReleaseReceipt,
  ReplaceReceipt,
  RequestFilter,
  RequestRow,
  RequestSettlement,
  RowFilter,
  SendFilter,
  SessionListing,
  SessionRows,
  SharedValue,
  StoredEvent,
  StoredRow,
  TurnExplanation,
  TurnFilter,
  TurnRow,
  TurnScope,
} from '../../ledger/port.ts';
import { checkBatch, checkForkPoint, checkLimit, checkNumbers, checkSnapshot } from '../batch.ts';
import { Followers } from '../followers.ts';
import type { OwnerSurvey } from '../owner.ts';
import { checkRequests } from '../requests.ts';
import type { RisingClock } from '../rising-clock.ts';
import type { Turn } from '../turns/turn.ts';
import { blobsOf, MemoryBlobs } from './blobs.ts';
import { dueOf, longestDue } from './due.ts';
import { MemoryLedger, nothingAt } from './ledger.ts';
import { MemoryOutbox } from './outbox.ts';
import { MemoryPosts } from './posts.ts';
import { MemoryReading } from './reading.ts';
import type { MemoryRegistry } from './registry.ts';
import { MemoryRequests } from './requests.ts';
import { MemoryRows } from './rows.ts';
import { listedSessions, sessionsOfRun } from './sessions.ts';
import { MemorySharedState } from './shared.ts';
import type { MemoryTurns } from './turns.ts';

/** The parts of a store in memory that all tenants and apps share. */
export interface MemoryParts {
  readonly clock: RisingClock;
  readonly registry: MemoryRegistry;
  readonly turns: MemoryTurns;
}

type TurnIdentity = Pick<Turn, 'ledger' | 'tenant' | 'app' | 'session'>;

/** The ledgers of one tenant and app in memory. */
export class MemoryLedgerStore implements LedgerStore {
  readonly scope: { readonly tenant: string; readonly app: string };
  readonly #clock: RisingClock;
  readonly #registry: MemoryRegistry;
  readonly #turns: MemoryTurns;
  readonly #ledgers = new Map<string, MemoryLedger>();
  readonly #blobs: MemoryBlobs;
  readonly #shared = new MemorySharedState();
  readonly #requests = new MemoryRequests();
  readonly #rows = new MemoryRows();
  readonly #outbox = new MemoryOutbox();
  readonly #posts: MemoryPosts;
  readonly #reading: MemoryReading;
  readonly #followers = new Followers();
  /**
   * No new ledger begins under a lower epoch. So the writer of a deleted ledger finds none that
   * looks like its own.
   */
  #firstEpoch = 0;
  #closed: StoreUnavailableError | undefined;

  constructor(scope: { readonly tenant: string; readonly app: string }, parts: MemoryParts) {
    this.scope = { tenant: scope.tenant, app: scope.app };
    this.#clock = parts.clock;
    this.#registry = parts.registry;
    this.#turns = parts.turns;
    this.#reading = new MemoryReading(
      scope.app,
      (session) => this.#find(session),
      () => this.#checkOpen(),
    );
    this.#posts = new MemoryPosts({
      scope: this.scope,
      turns: this.#turns.posts,
      requests: this.#requests,
      rows: this.#rows,
      find: (session) => this.#ledgers.get(session),
      open: (session, now) => this.#newLedger(session, now),
    });
    this.#blobs = new MemoryBlobs(this.scope);
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
    if (ledger === undefined) throw nothingAt(session, expected);
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
      this.#writeBeside(ledger, batch, now);
      this.#followers.wake(session);
    }
    const { epoch, inboxSeq } = ledger.head;
    return { seq: expected.seq + events.length, epoch, inboxSeq, now };
  }

  /** Writes the parts of a batch that are found across sessions. */
  #writeBeside(ledger: MemoryLedger, { rows, sends, turn, wakeAt }: Batch, now: number): void {
    const { session } = ledger;
    if (rows !== undefined) this.#rows.write(session, rows);
    if (sends !== undefined) this.#outbox.add(session, sends, now);
    if (turn !== undefined) this.#turns.changes.patch(this.#identity(ledger), turn, now);
    if (wakeAt !== undefined) this.#turns.changes.woken(ledger.number, wakeAt);
  }

  #identity({ number, session }: MemoryLedger): TurnIdentity {
    return { ledger: number, session, ...this.scope };
  }

  read(session: string, range?: ReadRange): AsyncGenerator<readonly Event[], void, undefined> {
    return this.#reading.read(session, range);
  }

  readStored(
    session: string,
    range?: ReadRange,
  ): AsyncGenerator<readonly StoredEvent[], void, undefined> {
    return this.#reading.readStored(session, range);
  }

  async head(session: string): Promise<LedgerHead | undefined> {
    this.#checkOpen();
    return this.#ledgers.get(session)?.head;
  }

  async birth(session: string): Promise<string | undefined> {
    this.#checkOpen();
    return this.#ledgers.get(session)?.birth;
  }

  async now(): Promise<number> {
    this.#checkOpen();
    return this.#clock.now();
  }

  async claim(session: string, owner: string, options: ClaimOptions): Promise<Claim> {
    this.#checkOpen();
    const now = this.#clock.now();
    const ledger = this.#ledgers.get(session) ?? this.#newLedger(session, now);
    ledger.assertFree(owner, options, now);
    this.#turns.changes.claimed(ledger.number, now);
    return ledger.claim(owner, options, now);
  }

  #newLedger(session: string, now: number): MemoryLedger {
    const number = this.#registry.next();
    return this.#add(new MemoryLedger({ session, number }, now, this.#firstEpoch));
  }

  #add(ledger: MemoryLedger): MemoryLedger {
    this.#ledgers.set(ledger.session, ledger);
    this.#registry.add(ledger, this.scope);
    return ledger;
  }

  async renew(claim: Claim): Promise<AppendReceipt> {
    this.#checkOpen();
    const ledger = this.#ledgers.get(claim.session);
    if (ledger !== undefined) return ledger.renew(claim, this.#clock.now());
    throw nothingAt(claim.session, claim);
  }

  async release(claim: Claim, options: ReleaseOptions = {}): Promise<ReleaseReceipt> {
    this.#checkOpen();
    const now = this.#clock.now();
    const ledger = this.#ledgers.get(claim.session);
    if (ledger === undefined) return { released: true, inboxSeq: 0, now };
    const isLast = ledger.head.epoch === claim.epoch;
    const receipt = ledger.release(claim, options);
    if (isLast && receipt.released)
      this.#turns.changes.released(this.#identity(ledger), options.turn, now);
    return { ...receipt, now };
  }

  async post(session: string, item: InboxItem, options: PostOptions = {}): Promise<PostReceipt> {
    this.#checkOpen();
    return this.#posts.post(session, item, options, this.#clock.now());
  }

  async inbox(session: string): Promise<readonly InboxEntry[]> {
    return this.#find(session).inbox();
  }

  follow(session: string, afterSeq: number, signal: AbortSignal): AsyncIterable<Event> {
    return this.#followers.follow(session, afterSeq, signal, this.#reading.ofOneLedger(session));
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
    const fresh = { session: newSession, number: this.#registry.next() };
    const fork = ledger.fork(atSeq, fresh, now, this.#firstEpoch);
    if (first.length > 0) fork.write({ events: first }, now);
    this.#add(fork);
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
    return sessionsOfRun([...this.#ledgers.values()], run).slice(0, limit);
  }

  async list(options: ListOptions = {}): Promise<readonly SessionListing[]> {
    this.#checkOpen();
    const limit = checkLimit('sessions', options.limit);
    return listedSessions(this.#ledgers, options).slice(0, limit);
  }

  async requests(filter: RequestFilter = {}): Promise<readonly RequestRow[]> {
    this.#checkOpen();
    return this.#requests.list(filter, checkLimit('requests', filter.limit));
  }

  async settle(session: string, settlement: RequestSettlement): Promise<void> {
    this.#checkOpen();
    this.#requests.settle(session, settlement, this.#clock.now());
  }

  async turn(session: string): Promise<TurnRow | undefined> {
    this.#checkOpen();
    return this.#turns.row(this.#ledgers.get(session)?.number);
  }

  async turns(filter: TurnFilter = {}): Promise<readonly TurnRow[]> {
    this.#checkOpen();
    return this.#turns.list(this.scope, filter, checkLimit('turns', filter.limit));
  }

  async explainTurn(session: string, scope: TurnScope): Promise<TurnExplanation | undefined> {
    this.#checkOpen();
    return this.#turns.explain(this.#ledgers.get(session)?.number, scope, this.#clock.now());
  }

  async rows(filter: RowFilter): Promise<readonly StoredRow[]> {
    this.#checkOpen();
    return this.#rows.list(filter, this.#clock.now(), checkLimit('rows', filter.limit));
  }

  async sends(filter: SendFilter = {}): Promise<readonly PendingSend[]> {
    this.#checkOpen();
    return this.#outbox.list(filter, this.#clock.now(), checkLimit('sends', filter.limit));
  }

  async sent(session: string, numbers: readonly number[]): Promise<void> {
    this.#checkOpen();
    this.#outbox.remove(session, numbers);
  }

  async due(options: { readonly limit?: number } = {}): Promise<readonly DueSession[]> {
    this.#checkOpen();
    return longestDue([this], this.#clock.now(), checkLimit('sessions', options.limit));
  }

  dueSessions(
    now: number,
    owners: OwnerSurvey,
  ): { readonly since: number; readonly session: DueSession }[] {
    return dueOf(this.#ledgers.values(), this.scope, now, owners);
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
      this.#rows.forget(each.session);
      this.#turns.forget(each.number, this.#clock.now());
      this.#registry.delete(each);
      this.#posts.deleted(each);
      each.delete();
      this.#followers.wake(each.session);
    }
    if (left.size > 0) this.#blobs.remove(left, blobsOf(this.#ledgers.values()));
  }

  async replaceRows(
    session: string,
    expected: LedgerHead,
    { listed, requests, summary, turn }: SessionRows,
  ): Promise<ReplaceReceipt> {
    const [ledger, now] = [this.#find(session), this.#clock.now()];
    if (!ledger.beReplaced(expected, summary, now)) return { replaced: false, now };
    if (requests !== undefined) this.#requests.replace(session, requests);
    if (listed !== undefined) this.#rows.replace(session, listed.kinds, listed.rows);
    if (turn !== undefined) this.#turns.changes.replace(this.#identity(ledger), turn, now);
    return { replaced: true, now };
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
    return this.#blobs.sweep(blobsOf(this.#ledgers.values()), before);
  }

  #find(session: string): MemoryLedger {
    this.#checkOpen();
    const ledger = this.#ledgers.get(session);
    if (ledger === undefined) throw new SessionNotFoundError({ session, app: this.scope.app });
    return ledger;
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw this.#closed;
  }
}
