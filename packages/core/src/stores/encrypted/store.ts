import { isAdjutantError } from '../../base/error.ts';
import { mapInTurns } from '../../base/turns.ts';
import { blobAddress } from '../../ledger/blobs/blob-address.ts';
import {
  BlobMissingError,
  LedgerConflictError,
  LedgerUnreadableError,
  SessionExistsError,
  SessionNotFoundError,
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
  SessionSummary,
  SharedValue,
  StoredEvent,
} from '../../ledger/port.ts';
import { recordedScopes } from '../../ledger/shared-scopes.ts';
import { checkBatch, checkForkPoint, checkNumbers, checkSnapshot } from '../batch.ts';
import { checkRequests } from '../requests.ts';
import { SealBrokenError, SegmentKeyMissingError } from './errors.ts';
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

/**
 * What is shown of a request that nobody can answer any more: the keys of its session are
 * destroyed.
 */
const lostRequest: RequestRow['request'] = {
  agent: '',
  summary: 'It cannot be read: the key of its session was destroyed.',
  options: [],
};

/**
 * The ledgers of one tenant and app, sealed on their way into another store and opened on their way
 * out.
 */
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
    let receipt: AppendReceipt;
    try {
      receipt = await this.#order.inTurn(this.#orderName(session), sealing, ({ sealed }) =>
        this.#inner.append(session, expected, sealed),
      );
    } catch (error) {
      throw asBlobMissing(error, names);
    }
    const { keys } = await sealing;
    // If that fails, the next entry does it.
    if (batch.summary !== undefined && keys?.sealsEntry === false)
      await this.#ring.entrySealed(session, keys).catch(() => undefined);
    return receipt;
  }

  /** @param names gets the addresses of blobs, by the names under which they are kept */
  async #sealBatch(
    session: string,
    expected: Head,
    batch: Batch,
    names: Map<string, string>,
  ): Promise<SealedBatch> {
    const { events, summary, requests, shared, blobs, ...rest } = batch;
    const app = isFilled(shared) || isFilled(blobs) ? await this.#appSeals() : undefined;
    if (app !== undefined)
      for (const address of blobs ?? []) names.set(app.blobName(address), address);
    // Those that are on their way must be handed on first.
    await Promise.all(
      [...names.values()].map((address) => this.#order.sent(this.#orderName(address))),
    );
    const sealed = {
      ...rest,
      ...(shared === undefined
        ? {}
        : { shared: shared.map((write) => app?.sealShared(write) ?? write) }),
      ...(blobs === undefined ? {} : { blobs: [...names.keys()] }),
    };
    if (events.length === 0 && !isFilled(requests) && summary === undefined)
      return { sealed: { ...sealed, events }, keys: undefined };
    const keys = await this.#ring.forWriting(session);
    if (keys === undefined) throw conflict(session, expected);
    const entry = this.#sealedSummary(keys, expected, batch);
    const whole: Batch = {
      ...sealed,
      events: events.map((event) => this.#events.seal(keys, session, event)),
      ...(entry === undefined ? {} : { summary: entry }),
      ...(requests === undefined
        ? {}
        : { requests: requests.map((request) => this.#seals.sealRequest(keys, request)) }),
    };
    return { sealed: whole, keys };
  }

  /**
   * The entry of the list; the first events bring one in any case, so that one that is missing was
   * taken away.
   */
  #sealedSummary(
    keys: SessionKeys,
    { seq }: Head,
    { summary, events }: Batch,
  ): SessionSummary | undefined {
    const isFirst = keys.sealsEntry && seq === 0 && events.length > 0;
    const given = summary ?? (isFirst ? ({ status: 'active' } as const) : undefined);
    return (
      given && {
        ...given,
        title: this.#seals.sealEntry(keys, { ...given, seq: seq + events.length }),
      }
    );
  }

  async *read(
    session: string,
    range?: ReadRange,
  ): AsyncGenerator<readonly Event[], void, undefined> {
    const reader = new Reader(this.#ring, session);
    const end = range?.upTo === undefined ? await this.#sealedEnd(session) : 0;
    let last = range?.after ?? 0;
    for await (const page of this.#inner.read(session, range)) {
      last = page.at(-1)?.seq ?? last;
      yield await this.#opened(reader, (keys) =>
        mapInTurns(page, (event) => this.#events.open(keys, session, event)),
      );
    }
    if (last < end) await this.#assertWhole(session, last);
  }

  async *readStored(
    session: string,
    range?: ReadRange,
  ): AsyncGenerator<readonly StoredEvent[], void, undefined> {
    // What does not open is marked and not tried again, so the keys must be those of now.
    const reader = new Reader(this.#ring, session, await this.#ring.findAnew(session));
    const end = range?.upTo === undefined ? await this.#sealedEnd(session) : 0;
    let last = range?.after ?? 0;
    for await (const page of this.#inner.readStored(session, range)) {
      last = page.at(-1)?.seq ?? last;
      yield await this.#opened(reader, (keys) =>
        mapInTurns(page, (event) => this.#events.openStored(keys, session, event)),
      );
    }
    if (last < end && last < (await this.#sealedEnd(session)))
      yield [{ type: 'unreadable', seq: last + 1, reason: cutOff }];
  }

  /** How far the ledger went at the least when its entry in the list was sealed last. */
  async #sealedEnd(session: string): Promise<number> {
    const [listing] = await this.#inner.list({ id: session, limit: 1 });
    if (listing === undefined || isEmpty(listing)) return 0;
    const entry = await new Reader(this.#ring, session).open((keys) =>
      this.#seals.openEntry(keys, listing),
    );
    return entry?.seq ?? 0;
  }

  /**
   * @throws LedgerUnreadableError when the ledger has lost its end: `last` is the last event that
   * there is
   */
  async #assertWhole(session: string, last: number): Promise<void> {
    if ((await this.#sealedEnd(session)) > last)
      throw new LedgerUnreadableError({ session, seq: last + 1, reason: cutOff });
  }

  async *follow(
    session: string,
    afterSeq: number,
    signal: AbortSignal,
  ): AsyncGenerator<Event, void, undefined> {
    const reader = new Reader(this.#ring, session);
    for await (const event of this.#inner.follow(session, afterSeq, signal)) {
      yield await this.#opened(reader, (keys) => this.#events.open(keys, session, event));
    }
  }

  head(session: string): Promise<LedgerHead | undefined> {
    return this.#inner.head(session);
  }

  now(): Promise<number> {
    return this.#inner.now();
  }

  async claim(session: string, owner: string, options: ClaimOptions): Promise<Claim> {
    const claim = await this.#inner.claim(session, owner, options);
    // Another process may have deleted the session and made another one of its name. None does from
    // now on without fencing this writer.
    this.#ring.forget(session);
    try {
      // What is appended would take the place of what was cut off.
      await this.#assertWhole(session, claim.seq);
    } catch (error) {
      // Who lacks the key can append nothing, and is told then.
      if (isAdjutantError(error, 'key_unavailable')) return claim;
      await this.#inner.release(claim).catch(() => undefined);
      throw error;
    }
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
    return this.#opened(new Reader(this.#ring, session), (keys) =>
      entries.map((entry) => this.#seals.openItem(session, keys, entry)),
    );
  }

  fork(
    session: string,
    atSeq: number,
    newSession: string,
    first: readonly Event[] = [],
  ): Promise<void> {
    return this.#underWay.during(() => this.#fork(session, atSeq, newSession, first));
  }

  async #fork(
    session: string,
    atSeq: number,
    newSession: string,
    first: readonly Event[],
  ): Promise<void> {
    checkNumbers(newSession, atSeq, first);
    const parent = await this.#ring.forWritingAnew(session);
    const head = await this.#inner.head(session);
    if (parent === undefined || head === undefined) throw this.#notFound(session);
    checkForkPoint(session, atSeq, head.seq);
    if ((await this.#inner.head(newSession)) !== undefined)
      throw new SessionExistsError({ session: newSession });
    const [origin] = await this.list({ id: session });
    const sealEntry = (keys: SessionKeys): string =>
      this.#seals.sealEntry(keys, { ...origin, seq: atSeq + first.length });
    const keys = await this.#ring.prepareFork(session, parent, {
      atSeq,
      session: newSession,
      sealEntry,
    });
    await this.#inner.fork(
      session,
      atSeq,
      newSession,
      first.map((event) => this.#events.seal(keys, newSession, event)),
    );
    if (!(await this.#ring.adopt(newSession)))
      throw new SegmentKeyMissingError({ session: newSession, app: this.#scope.app });
  }

  async addressKey(): Promise<Uint8Array> {
    return (await this.#appSeals()).addressKey();
  }

  putBlob(bytes: Uint8Array, address?: string): Promise<string> {
    return this.#underWay.during(() => this.#putBlob(bytes, address));
  }

  async #putBlob(bytes: Uint8Array, known: string | undefined): Promise<string> {
    // A copy: the caller may change its bytes while the key is looked for.
    const copy = bytes.slice();
    const address = known ?? blobAddress(this.#scope, copy, await this.addressKey());
    const sealing = this.#appSeals().then((seals) => ({
      name: seals.blobName(address),
      sealed: seals.sealBlob(address, copy),
    }));
    await this.#order.inTurn(this.#orderName(address), sealing, ({ name, sealed }) =>
      this.#inner.putBlob(sealed, name),
    );
    return address;
  }

  async getBlob(address: string, session?: string): Promise<Uint8Array> {
    const seals = await this.#appSeals();
    const name = seals.blobName(address);
    try {
      return seals.openBlob(address, await this.#inner.getBlob(name, session));
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
        {
          value: value === undefined ? undefined : seals.openShared(scope, scopeId, key, value),
          version,
        },
      ]),
    );
  }

  async list(options: ListOptions = {}): Promise<readonly SessionListing[]> {
    const listings = await this.#inner.list(options);
    const opened = await Promise.all(listings.map((listing) => this.#openListing(listing)));
    const { user, runnable } = options;
    return opened.filter(
      (listing) =>
        (user === undefined || listing.user === user) &&
        (runnable === undefined || listing.runnable === runnable),
    );
  }

  async #openListing(listing: SessionListing): Promise<SessionListing> {
    if (isEmpty(listing)) return listing;
    const { title: _sealed, user: storedUser, runnable: _stored, ...rest } = listing;
    const reader = new Reader(this.#ring, listing.id);
    const entry = await reader.open((keys) => this.#seals.openEntry(keys, listing));
    if (entry?.isOld === true && storedUser !== undefined)
      await this.#assertUser(listing.id, storedUser);
    const { title, user, runnable } = entry ?? { ...listing, title: undefined };
    return {
      ...rest,
      ...(title === undefined ? {} : { title }),
      ...(user === undefined ? {} : { user }),
      ...(runnable === undefined ? {} : { runnable }),
    };
  }

  /**
   * Whose session it is, as its first events say if they do: for entries of older versions. @throws
   * SealBrokenError
   */
  async #assertUser(session: string, user: string): Promise<void> {
    const first: Event[] = [];
    for await (const page of this.read(session, { upTo: eventsThatSayWhose })) first.push(...page);
    const said = recordedScopes(first)['user'];
    if (said !== undefined && said !== user)
      throw new SealBrokenError({ what: `The entry of session "${session}" in the list` });
  }

  async requests(filter: RequestFilter = {}): Promise<readonly RequestRow[]> {
    const rows = await this.#inner.requests(filter);
    return Promise.all(
      rows.map(async (row) => {
        // What it is found by lies beside it in the clear.
        if (!isFoundRightly(row, filter))
          throw new SealBrokenError({
            what: `The request "${row.requestId}" of session "${row.session}"`,
          });
        const reader = new Reader(this.#ring, row.session);
        return (
          (await reader.open((keys) => this.#seals.openRequest(keys, row))) ?? {
            ...row,
            request: lostRequest,
          }
        );
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
   * Keys go first: what was begun to be deleted cannot be read any more, and can be deleted again.
   * Where forks go along, the store knows which only when they are gone; a deletion that was
   * stopped in between is made whole by another one, which then finds no session.
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
      // Forks may have been made in the meantime. The session's own record goes last: it leads to
      // the others.
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
    await this.#inner.putSnapshot(session, {
      key,
      seq,
      value: this.#seals.sealSnapshot(keys, key, seq, value),
    });
  }

  async getSnapshot(session: string, key: string, upTo: number): Promise<FoldSnapshot | undefined> {
    const snapshot = await this.#inner.getSnapshot(session, key, upTo);
    if (snapshot === undefined) return undefined;
    const reader = new Reader(this.#ring, session);
    const value = await reader.open((keys) =>
      this.#seals.openSnapshot(session, keys, key, snapshot.seq, snapshot.value),
    );
    return value === undefined ? undefined : { key, seq: snapshot.seq, value };
  }

  async #appSeals(): Promise<AppSeals> {
    return new AppSeals(this.#scope, await this.#ring.ofApp());
  }

  /** What a reader opens. @throws SegmentKeyMissingError, SessionNotFoundError */
  async #opened<Content>(
    reader: Reader,
    work: (keys: SessionKeys) => Content | Promise<Content>,
  ): Promise<Content> {
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

interface SealedBatch {
  readonly sealed: Batch;
  /** What it was sealed with, if it was. */
  readonly keys: SessionKeys | undefined;
}

const cutOff =
  'the end of the ledger is missing: there were more events when its entry in the list was written';

/** Events among which the scopes of a session are declared, by its making or with its first run. */
const eventsThatSayWhose = 50;

/** Whether nothing has been said of a session yet that could be sealed. */
function isEmpty({ title, user, runnable, seq }: SessionListing): boolean {
  return seq === 0 && title === undefined && user === undefined && runnable === undefined;
}

/**
 * Whether a request is one of those that were asked for by what it says of itself, which is sealed.
 */
function isFoundRightly(
  { user, session, requestId, operationId }: RequestRow,
  filter: RequestFilter,
): boolean {
  const asked = [filter.user, filter.session, filter.requestId, filter.operationId];
  return [user, session, requestId, operationId].every(
    (said, i) => asked[i] === undefined || asked[i] === said,
  );
}

/**
 * Opens what is read of one session, all with the same keys: those of another session that gets its
 * name do not fit.
 */
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
  async open<Content>(
    work: (keys: SessionKeys) => Content | Promise<Content>,
  ): Promise<Content | undefined> {
    const known = this.#keys ?? (await this.#ring.find(this.session));
    if (known === undefined) return undefined;
    this.#keys = known;
    try {
      return await work(known);
    } catch (error) {
      // What this process remembers may be the keys of a session that another process has deleted
      // since.
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
  return new LedgerConflictError({
    session,
    expected: { seq, epoch },
    found: { seq: 0, epoch: 0 },
  });
}

/** What the other store says of a blob, with the address that is known here. */
function asBlobMissing(error: unknown, addresses: ReadonlyMap<string, string>): unknown {
  if (!isAdjutantError(error, 'blob_missing')) return error;
  const address = addresses.get(String(error.data['address']));
  return address === undefined ? error : new BlobMissingError({ address });
}
