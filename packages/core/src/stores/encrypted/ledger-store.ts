import { isAdjutantError } from '../../base/error.ts';
import { SessionExistsError } from '../../ledger/errors.ts';
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
import { checkBatch, checkForkPoint, checkNumbers, checkSnapshot } from '../batch.ts';
import { checkRequests } from '../requests.ts';
import { BatchSealing } from './batch-sealing.ts';
import { asBlobMissing, SealedBlobs } from './blobs.ts';
import { deleteSession } from './deletion.ts';
import { SegmentKeyMissingError } from './errors.ts';
import { EventSeals } from './event-seals.ts';
import type { SessionKeys } from './keys/session-keys.ts';
import { appSealsOf, type LedgerParts, orderNameOf, sessionNotFound } from './ledger-parts.ts';
import { LedgerReading } from './ledger-reading.ts';
import { listRequests } from './request-list.ts';
import { listRows } from './row-seals.ts';
import { SealedPosts } from './sealed-posts.ts';
import { SessionSeals } from './seals.ts';
import { openSends } from './send-list.ts';
import { SessionList } from './session-list.ts';
import { SessionReader } from './session-reader.ts';

const none = Promise.resolve<readonly string[]>([]);

/** The ledgers of one tenant and app, sealed when written to another store and opened when read. */
export class EncryptedLedgerStore implements LedgerStore {
  readonly #parts: LedgerParts;
  readonly #events: EventSeals;
  readonly #seals: SessionSeals;
  readonly #batches: BatchSealing;
  readonly #posts: SealedPosts;
  readonly #blobs: SealedBlobs;
  readonly #reading: LedgerReading;
  readonly #sessions: SessionList;
  /** Paths of events are not sealed: the store below finds them, if it can. */
  readonly sessionsOfRun?: NonNullable<LedgerStore['sessionsOfRun']>;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
    this.#events = new EventSeals(parts.scope);
    this.#seals = new SessionSeals(parts.scope);
    this.#batches = new BatchSealing(parts);
    this.#posts = new SealedPosts(parts);
    this.#blobs = new SealedBlobs(parts);
    this.#reading = new LedgerReading(parts);
    this.#sessions = new SessionList(parts, this.#reading);
    const { inner } = parts;
    if (inner.sessionsOfRun !== undefined)
      this.sessionsOfRun = (run, options) => inner.sessionsOfRun?.(run, options) ?? none;
  }

  append(session: string, expected: Head, batch: Batch): Promise<AppendReceipt> {
    return this.#parts.underWay.during(() => this.#append(session, expected, batch));
  }

  async #append(session: string, expected: Head, batch: Batch): Promise<AppendReceipt> {
    checkBatch(session, expected, batch.events);
    checkRequests(session, batch.requests);
    const names = new Map<string, string>();
    const sealing = this.#batches.seal(session, expected, batch, names);
    let receipt: AppendReceipt;
    try {
      receipt = await this.#parts.order.inTurn(
        orderNameOf(this.#parts, session),
        sealing,
        ({ sealed }) => this.#parts.inner.append(session, expected, sealed),
      );
    } catch (error) {
      throw asBlobMissing(error, names);
    }
    const { keys } = await sealing;
    // If this fails, the next entry marks it.
    if (batch.summary !== undefined && keys?.sealsEntry === false)
      await this.#parts.ring.entrySealed(session, keys).catch(() => undefined);
    return receipt;
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

  follow(
    session: string,
    afterSeq: number,
    signal: AbortSignal,
  ): AsyncGenerator<Event, void, undefined> {
    return this.#reading.follow(session, afterSeq, signal);
  }

  head(session: string): Promise<LedgerHead | undefined> {
    return this.#parts.inner.head(session);
  }

  birth(session: string): Promise<string | undefined> {
    return this.#parts.inner.birth(session);
  }

  now(): Promise<number> {
    return this.#parts.inner.now();
  }

  async claim(session: string, owner: string, options: ClaimOptions): Promise<Claim> {
    const claim = await this.#parts.inner.claim(session, owner, options);
    // Another process may have deleted the session and made another of the same name. From now on
    // none can do so without fencing this writer.
    this.#parts.ring.forget(session);
    try {
      // New events would take the place of those that were cut off.
      await this.#reading.assertWhole(session, claim.seq);
    } catch (error) {
      // A caller without the key can append nothing: the append reports it.
      if (isAdjutantError(error, 'key_unavailable')) return claim;
      // The events of a writer that has taken the session over meanwhile came after this claim.
      if ((await this.#parts.inner.head(session))?.epoch !== claim.epoch) return claim;
      await this.#parts.inner.release(claim).catch(() => undefined);
      throw error;
    }
    return claim;
  }

  renew(claim: Claim): Promise<AppendReceipt> {
    return this.#parts.inner.renew(claim);
  }

  release(claim: Claim, options?: ReleaseOptions): Promise<ReleaseReceipt> {
    return this.#parts.inner.release(claim, options);
  }

  post(session: string, item: InboxItem, options: PostOptions = {}): Promise<PostReceipt> {
    return this.#parts.underWay.during(() => this.#posts.post(session, item, options));
  }

  async inbox(session: string): Promise<readonly InboxEntry[]> {
    const entries = await this.#parts.inner.inbox(session);
    if (entries.length === 0) return entries;
    return this.#reading.opened(new SessionReader(this.#parts.ring, session), (keys) =>
      entries.map((entry) => this.#seals.openItem(session, keys, entry)),
    );
  }

  fork(
    session: string,
    atSeq: number,
    newSession: string,
    first: readonly Event[] = [],
  ): Promise<void> {
    return this.#parts.underWay.during(() => this.#fork(session, atSeq, newSession, first));
  }

  async #fork(
    session: string,
    atSeq: number,
    newSession: string,
    first: readonly Event[],
  ): Promise<void> {
    checkNumbers(newSession, atSeq, first);
    const parent = await this.#parts.ring.forWritingAnew(session);
    const head = await this.#parts.inner.head(session);
    if (parent === undefined || head === undefined) throw sessionNotFound(this.#parts, session);
    checkForkPoint(session, atSeq, head.seq);
    if ((await this.#parts.inner.head(newSession)) !== undefined)
      throw new SessionExistsError({ session: newSession });
    const [origin] = await this.list({ id: session });
    const sealEntry = (keys: SessionKeys): string =>
      this.#seals.sealEntry(keys, { ...origin, seq: atSeq + first.length });
    const keys = await this.#parts.ring.prepareFork(session, parent, {
      atSeq,
      session: newSession,
      sealEntry,
    });
    await this.#parts.inner.fork(
      session,
      atSeq,
      newSession,
      first.map((event) => this.#events.seal(keys, newSession, event)),
    );
    if (!(await this.#parts.ring.adopt(newSession)))
      throw new SegmentKeyMissingError({ session: newSession, app: this.#parts.scope.app });
  }

  addressKey(): Promise<Uint8Array> {
    return this.#blobs.addressKey();
  }

  putBlob(bytes: Uint8Array, address?: string): Promise<string> {
    return this.#parts.underWay.during(() => this.#blobs.put(bytes, address));
  }

  getBlob(address: string, session?: string): Promise<Uint8Array> {
    return this.#blobs.get(address, session);
  }

  async readShared(scope: string, scopeId: string): Promise<Readonly<Record<string, SharedValue>>> {
    const stored = Object.entries(await this.#parts.inner.readShared(scope, scopeId));
    if (stored.length === 0) return {};
    const seals = await appSealsOf(this.#parts);
    return Object.fromEntries(
      stored.map(([key, { value, version }]) => [
        key,
        {
          value: value === undefined ? undefined : seals.openShared(scope, scopeId, key, value),
          version,
        },
      ]),
    );
  }

  list(options: ListOptions = {}): Promise<readonly SessionListing[]> {
    return this.#sessions.list(options);
  }

  requests(filter: RequestFilter = {}): Promise<readonly RequestRow[]> {
    return listRequests(this.#parts, filter);
  }

  settle(session: string, settlement: RequestSettlement): Promise<void> {
    return this.#parts.inner.settle(session, settlement);
  }

  turn(session: string): Promise<TurnRow | undefined> {
    return this.#parts.inner.turn(session);
  }

  turns(filter?: TurnFilter): Promise<readonly TurnRow[]> {
    return this.#parts.inner.turns(filter);
  }

  explainTurn(session: string, scope: TurnScope): Promise<TurnExplanation | undefined> {
    return this.#parts.inner.explainTurn(session, scope);
  }

  rows(filter: RowFilter): Promise<readonly StoredRow[]> {
    return listRows(this.#parts, filter);
  }

  async sends(filter?: SendFilter): Promise<readonly PendingSend[]> {
    return openSends(this.#parts, await this.#parts.inner.sends(filter));
  }

  sent(session: string, numbers: readonly number[]): Promise<void> {
    return this.#parts.inner.sent(session, numbers);
  }

  due(options?: { readonly limit?: number }): Promise<readonly DueSession[]> {
    return this.#parts.inner.due(options);
  }

  delete(session: string, options: DeleteOptions = {}): Promise<void> {
    return this.#parts.underWay.during(() => deleteSession(this.#parts, session, options));
  }

  putSnapshot(session: string, snapshot: FoldSnapshot): Promise<void> {
    return this.#parts.underWay.during(() => this.#putSnapshot(session, snapshot));
  }

  async #putSnapshot(session: string, { key, seq, value }: FoldSnapshot): Promise<void> {
    const keys = await this.#parts.ring.forWriting(session);
    const head = await this.#parts.inner.head(session);
    if (keys === undefined || head === undefined) throw sessionNotFound(this.#parts, session);
    checkSnapshot(session, seq, head.seq);
    await this.#parts.inner.putSnapshot(session, {
      key,
      seq,
      value: this.#seals.sealSnapshot(keys, key, seq, value),
    });
  }

  async getSnapshot(session: string, key: string, upTo: number): Promise<FoldSnapshot | undefined> {
    const snapshot = await this.#parts.inner.getSnapshot(session, key, upTo);
    if (snapshot === undefined) return undefined;
    const reader = new SessionReader(this.#parts.ring, session);
    const value = await reader.open((keys) =>
      this.#seals.openSnapshot(session, keys, key, snapshot.seq, snapshot.value),
    );
    return value === undefined ? undefined : { key, seq: snapshot.seq, value };
  }
}
