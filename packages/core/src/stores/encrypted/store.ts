import { isAdjutantError } from '../../base/error.ts';
import { mapInTurns } from '../../base/turns.ts';
import { blobAddress } from '../../ledger/blob-address.ts';
import { BlobMissingError, LedgerConflictError, SessionExistsError, SessionNotFoundError } from '../../ledger/errors.ts';
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
import { checkBatch, checkForkPoint, checkNumbers, checkSnapshot } from '../batch.ts';
import { checkRequests } from '../requests.ts';
import { SegmentKeyMissingError } from './errors.ts';
import { EventSeals } from './event-seals.ts';
import type { KeyRing } from './key-ring.ts';
import { AppSeals, SessionSeals } from './seals.ts';
import type { SendingOrder } from './sending-order.ts';
import type { SessionKeys } from './session-keys.ts';
import type { UnderWay } from './under-way.ts';

/** What the ledgers of one tenant and app need. */
export interface LedgerParts {
  readonly scope: { readonly tenant: string; readonly app: string };
  /** Where what is sealed goes. */
  readonly inner: LedgerStore;
  readonly ring: KeyRing;
  readonly order: SendingOrder;
  readonly underWay: UnderWay;
}

/** What is shown of a request that nobody can answer any more: the keys of its session are destroyed. */
const lostRequest: RequestRow['request'] = { agent: '', summary: 'It cannot be read: the key of its session was destroyed.', options: [] };

/** The ledgers of one tenant and app, sealed on their way into another store and opened on their way out. */
export class EncryptedLedgerStore implements LedgerStore {
  readonly #scope: { readonly tenant: string; readonly app: string };
  readonly #inner: LedgerStore;
  readonly #ring: KeyRing;
  readonly #events: EventSeals;
  readonly #seals: SessionSeals;
  readonly #order: SendingOrder;
  readonly #underWay: UnderWay;

  constructor({ scope, inner, ring, order, underWay }: LedgerParts) {
    this.#scope = scope;
    this.#inner = inner;
    this.#ring = ring;
    this.#order = order;
    this.#underWay = underWay;
    this.#events = new EventSeals(scope);
    this.#seals = new SessionSeals(scope);
  }

  append(session: string, expected: Head, batch: Batch): Promise<AppendReceipt> {
    return this.#underWay.during(() => this.#append(session, expected, batch));
  }

  async #append(session: string, expected: Head, batch: Batch): Promise<AppendReceipt> {
    checkBatch(session, expected, batch.events);
    checkRequests(session, batch.requests);
    const names = new Map<string, string>();
    const sealing = this.#sealBatch(session, expected, batch, names);
    try {
      return await this.#order.inTurn(this.#orderName(session), sealing, (sealed) => this.#inner.append(session, expected, sealed));
    } catch (error) {
      throw asBlobMissing(error, names);
    }
  }

  /** @param names gets the addresses of blobs, by the names under which they are kept */
  async #sealBatch(session: string, expected: Head, batch: Batch, names: Map<string, string>): Promise<Batch> {
    const { events, summary, requests, shared, blobs, ...rest } = batch;
    const app = isFilled(shared) || isFilled(blobs) ? await this.#appSeals() : undefined;
    if (app !== undefined) for (const address of blobs ?? []) names.set(app.blobName(address), address);
    // Those that are on their way must be handed on first.
    await Promise.all([...names.values()].map((address) => this.#order.sent(this.#orderName(address))));
    const sealed = {
      ...rest,
      ...(shared === undefined ? {} : { shared: shared.map((write) => app?.sealShared(write) ?? write) }),
      ...(blobs === undefined ? {} : { blobs: [...names.keys()] }),
    };
    const hasContent = events.length > 0 || isFilled(requests) || summary?.title !== undefined;
    if (!hasContent) return { ...sealed, events, ...(summary === undefined ? {} : { summary }) };
    const keys = await this.#ring.forWriting(session);
    if (keys === undefined) throw conflict(session, expected);
    return {
      ...sealed,
      events: events.map((event) => this.#events.seal(keys, session, event)),
      ...(summary === undefined
        ? {}
        : { summary: summary.title === undefined ? summary : { ...summary, title: this.#seals.sealTitle(keys, summary.title) } }),
      ...(requests === undefined ? {} : { requests: requests.map((request) => this.#seals.sealRequest(keys, request)) }),
    };
  }

  async *read(session: string, range?: ReadRange): AsyncGenerator<readonly Event[], void, undefined> {
    const reader = new Reader(this.#ring, session);
    for await (const page of this.#inner.read(session, range)) {
      yield await this.#opened(reader, (keys) => mapInTurns(page, (event) => this.#events.open(keys, session, event)));
    }
  }

  async *readStored(session: string, range?: ReadRange): AsyncGenerator<readonly StoredEvent[], void, undefined> {
    // What does not open is marked and not tried again, so the keys must be those of now.
    const reader = new Reader(this.#ring, session, await this.#ring.findAnew(session));
    for await (const page of this.#inner.readStored(session, range)) {
      yield await this.#opened(reader, (keys) => mapInTurns(page, (event) => this.#events.openStored(keys, session, event)));
    }
  }

  async *follow(session: string, afterSeq: number, signal: AbortSignal): AsyncGenerator<Event, void, undefined> {
    const reader = new Reader(this.#ring, session);
    for await (const event of this.#inner.follow(session, afterSeq, signal)) {
      yield await this.#opened(reader, (keys) => this.#events.open(keys, session, event));
    }
  }

  head(session: string): Promise<AppendReceipt | undefined> {
    return this.#inner.head(session);
  }

  async claim(session: string, owner: string, options: ClaimOptions): Promise<Claim> {
    const claim = await this.#inner.claim(session, owner, options);
    // Another process may have deleted the session and made another one of its name. None does from now on without fencing this writer.
    this.#ring.forget(session);
    return claim;
  }

  renew(claim: Claim): Promise<AppendReceipt> {
    return this.#inner.renew(claim);
  }

  release(claim: Claim, options?: ReleaseOptions): Promise<ReleaseReceipt> {
    return this.#inner.release(claim, options);
  }

  post(session: string, item: InboxItem): Promise<PostReceipt> {
    return this.#underWay.during(() => this.#post(session, item));
  }

  async #post(session: string, item: InboxItem): Promise<PostReceipt> {
    const keys = await this.#ring.forWritingAnew(session);
    if (keys === undefined) throw this.#notFound(session);
    return this.#inner.post(session, this.#seals.sealItem(keys, item));
  }

  async inbox(session: string): Promise<readonly InboxEntry[]> {
    const entries = await this.#inner.inbox(session);
    if (entries.length === 0) return entries;
    return this.#opened(new Reader(this.#ring, session), (keys) => entries.map((entry) => this.#seals.openItem(session, keys, entry)));
  }

  fork(session: string, atSeq: number, newSession: string, first: readonly Event[] = []): Promise<void> {
    return this.#underWay.during(() => this.#fork(session, atSeq, newSession, first));
  }

  async #fork(session: string, atSeq: number, newSession: string, first: readonly Event[]): Promise<void> {
    checkNumbers(newSession, atSeq, first);
    const parent = await this.#ring.forWritingAnew(session);
    const head = await this.#inner.head(session);
    if (parent === undefined || head === undefined) throw this.#notFound(session);
    checkForkPoint(session, atSeq, head.seq);
    if ((await this.#inner.head(newSession)) !== undefined) throw new SessionExistsError({ session: newSession });
    const title = (await this.list({ id: session }))[0]?.title;
    const sealTitle = (keys: SessionKeys): string | undefined => (title === undefined ? undefined : this.#seals.sealTitle(keys, title));
    const keys = await this.#ring.prepareFork(session, parent, { atSeq, session: newSession, sealTitle });
    await this.#inner.fork(
      session,
      atSeq,
      newSession,
      first.map((event) => this.#events.seal(keys, newSession, event)),
    );
    if (!(await this.#ring.adopt(newSession))) throw new SegmentKeyMissingError({ session: newSession, app: this.#scope.app });
  }

  putBlob(bytes: Uint8Array, address: string = blobAddress(this.#scope, bytes)): Promise<string> {
    return this.#underWay.during(() => this.#putBlob(bytes, address));
  }

  async #putBlob(bytes: Uint8Array, address: string): Promise<string> {
    // A copy: the caller may change its bytes while the key is looked for.
    const copy = bytes.slice();
    const sealing = this.#appSeals().then((seals) => ({ name: seals.blobName(address), sealed: seals.sealBlob(address, copy) }));
    await this.#order.inTurn(this.#orderName(address), sealing, ({ name, sealed }) => this.#inner.putBlob(sealed, name));
    return address;
  }

  async getBlob(address: string): Promise<Uint8Array> {
    const seals = await this.#appSeals();
    const name = seals.blobName(address);
    try {
      return seals.openBlob(address, await this.#inner.getBlob(name));
    } catch (error) {
      throw asBlobMissing(error, new Map([[name, address]]));
    }
  }

  async readShared(scope: string, scopeId: string): Promise<Readonly<Record<string, SharedValue>>> {
    const stored = Object.entries(await this.#inner.readShared(scope, scopeId));
    if (stored.length === 0) return {};
    const seals = await this.#appSeals();
    return Object.fromEntries(
      stored.map(([key, { value, version }]) => [
        key,
        { value: value === undefined ? undefined : seals.openShared(scope, scopeId, key, value), version },
      ]),
    );
  }

  async list(options?: ListOptions): Promise<readonly SessionListing[]> {
    const listings = await this.#inner.list(options);
    return Promise.all(listings.map((listing) => this.#openListing(listing)));
  }

  async #openListing({ title: stored, ...listing }: SessionListing): Promise<SessionListing> {
    if (stored === undefined) return listing;
    const reader = new Reader(this.#ring, listing.id);
    const title = await reader.open((keys) => this.#seals.openTitle(listing.id, keys, stored));
    return title === undefined ? listing : { ...listing, title };
  }

  async requests(filter?: RequestFilter): Promise<readonly RequestRow[]> {
    const rows = await this.#inner.requests(filter);
    return Promise.all(
      rows.map(async (row) => {
        const reader = new Reader(this.#ring, row.session);
        return (await reader.open((keys) => this.#seals.openRequest(keys, row))) ?? { ...row, request: lostRequest };
      }),
    );
  }

  settle(session: string, settlement: RequestSettlement): Promise<void> {
    return this.#inner.settle(session, settlement);
  }

  due(options?: { readonly limit?: number }): Promise<readonly DueSession[]> {
    return this.#inner.due(options);
  }

  delete(session: string, options: DeleteOptions = {}): Promise<void> {
    return this.#underWay.during(() => this.#delete(session, options));
  }

  /**
   * Keys go first: what was begun to be deleted cannot be read any more, and can be deleted again. Where forks go along, the store knows which
   * only when they are gone; a deletion that was stopped in between is made whole by another one, which then finds no session.
   */
  async #delete(session: string, options: DeleteOptions): Promise<void> {
    const isThere = (await this.#inner.head(session)) !== undefined;
    const erases = options.erase === true;
    const relatives = erases || !isThere ? await this.#ring.relativesOf(session) : [];
    if (isThere && !erases) await this.#ring.destroy(session);
    try {
      await this.#inner.delete(session, options);
    } finally {
      this.#ring.forget(session);
      // Forks may have been made in the meantime. The session's own record goes last: it leads to the others.
      const later = erases ? await this.#ring.relativesOf(session) : [];
      const others = new Set([...relatives, ...later]);
      if (others.delete(session)) await this.#ring.destroyGone([...others, session]);
    }
  }

  putSnapshot(session: string, snapshot: FoldSnapshot): Promise<void> {
    return this.#underWay.during(() => this.#putSnapshot(session, snapshot));
  }

  async #putSnapshot(session: string, { key, seq, value }: FoldSnapshot): Promise<void> {
    const keys = await this.#ring.forWriting(session);
    const head = await this.#inner.head(session);
    if (keys === undefined || head === undefined) throw this.#notFound(session);
    checkSnapshot(session, seq, head.seq);
    await this.#inner.putSnapshot(session, { key, seq, value: this.#seals.sealSnapshot(keys, key, seq, value) });
  }

  async getSnapshot(session: string, key: string, upTo: number): Promise<FoldSnapshot | undefined> {
    const snapshot = await this.#inner.getSnapshot(session, key, upTo);
    if (snapshot === undefined) return undefined;
    const reader = new Reader(this.#ring, session);
    const value = await reader.open((keys) => this.#seals.openSnapshot(session, keys, key, snapshot.seq, snapshot.value));
    return value === undefined ? undefined : { key, seq: snapshot.seq, value };
  }

  async #appSeals(): Promise<AppSeals> {
    return new AppSeals(this.#scope, await this.#ring.ofApp());
  }

  /** What a reader opens. @throws SegmentKeyMissingError, SessionNotFoundError */
  async #opened<Content>(reader: Reader, work: (keys: SessionKeys) => Content | Promise<Content>): Promise<Content> {
    const opened = await reader.open(work);
    if (opened !== undefined) return opened;
    const { session } = reader;
    if ((await this.#inner.head(session)) === undefined) throw this.#notFound(session);
    throw new SegmentKeyMissingError({ session, app: this.#scope.app });
  }

  #orderName(what: string): string {
    return JSON.stringify([this.#scope.tenant, this.#scope.app, what]);
  }

  #notFound(session: string): SessionNotFoundError {
    return new SessionNotFoundError({ session, app: this.#scope.app });
  }
}

/** Opens what is read of one session, all with the same keys: those of another session that gets its name do not fit. */
class Reader {
  readonly session: string;
  readonly #ring: KeyRing;
  #keys: SessionKeys | undefined;

  constructor(ring: KeyRing, session: string, keys?: SessionKeys) {
    this.session = session;
    this.#ring = ring;
    this.#keys = keys;
  }

  /** `undefined` when the session has no keys. */
  async open<Content>(work: (keys: SessionKeys) => Content | Promise<Content>): Promise<Content | undefined> {
    const known = this.#keys ?? (await this.#ring.find(this.session));
    if (known === undefined) return undefined;
    this.#keys = known;
    try {
      return await work(known);
    } catch (error) {
      // What this process remembers may be the keys of a session that another process has deleted since.
      const found = await this.#ring.findAnew(this.session);
      if (found === undefined || found.own.id === known.own.id) throw error;
      this.#keys = found;
      return await work(found);
    }
  }
}

function isFilled(list: readonly unknown[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}

/** As a store says it of a session that is not there. */
function conflict(session: string, { seq, epoch }: Head): LedgerConflictError {
  return new LedgerConflictError({ session, expected: { seq, epoch }, found: { seq: 0, epoch: 0 } });
}

/** What the other store says of a blob, with the address that is known here. */
function asBlobMissing(error: unknown, addresses: ReadonlyMap<string, string>): unknown {
  if (!isAdjutantError(error, 'blob_missing')) return error;
  const address = addresses.get(String(error.data['address']));
  return address === undefined ? error : new BlobMissingError({ address });
}
