import { type Clock, systemClock } from '../base/clock.ts';
import { blobAddress } from '../ledger/blob-address.ts';
import { BlobMissingError, LedgerConflictError, SessionExistsError, SessionNotFoundError, StoreUnavailableError } from '../ledger/errors.ts';
import type { Event } from '../ledger/event.ts';
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
} from '../ledger/port.ts';
import { checkBatch, checkForkPoint, checkListLimit } from './batch.ts';
import { Followers } from './followers.ts';
import { MemoryLedger } from './memory-ledger.ts';
import { MemorySharedState } from './memory-shared.ts';

export interface MemoryStoreOptions {
  /** Judges leases and dates sessions. @default the system's clock */
  readonly clock?: Clock;
}

/** A store that lives as long as the process: for tests, and for runs that nobody needs to continue. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const clock = options.clock ?? systemClock;
  const scopes = new Map<string, MemoryLedgerStore>();
  let closed = false;
  return {
    description: 'memory',
    for(scope) {
      const key = JSON.stringify([scope.tenant, scope.app]);
      let ledgers = scopes.get(key);
      if (ledgers === undefined) {
        ledgers = new MemoryLedgerStore(scope, clock);
        scopes.set(key, ledgers);
        if (closed) ledgers.close();
      }
      return ledgers;
    },
    async close() {
      closed = true;
      for (const ledgers of scopes.values()) ledgers.close();
    },
  };
}

class MemoryLedgerStore implements LedgerStore {
  readonly #scope: { readonly tenant: string; readonly app: string };
  readonly #clock: Clock;
  readonly #ledgers = new Map<string, MemoryLedger>();
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #shared = new MemorySharedState();
  readonly #followers = new Followers();
  #closed: StoreUnavailableError | undefined;

  constructor(scope: { readonly tenant: string; readonly app: string }, clock: Clock) {
    this.#scope = { tenant: scope.tenant, app: scope.app };
    this.#clock = clock;
  }

  close(): void {
    this.#closed = new StoreUnavailableError({ store: 'memory', reason: 'it has been closed', permanent: true });
    this.#followers.fail(this.#closed);
  }

  async append(session: string, expected: Head, batch: Batch): Promise<AppendReceipt> {
    this.#checkOpen();
    const { events, shared } = batch;
    checkBatch(session, expected, events);
    const ledger = this.#ledgers.get(session);
    if (ledger === undefined) {
      throw new LedgerConflictError({ session, expected: { seq: expected.seq, epoch: expected.epoch }, found: { seq: 0, epoch: 0 } });
    }
    if (!ledger.checkHead(expected, events)) {
      if (batch.blobs !== undefined) for (const address of batch.blobs) this.#checkBlob(address);
      if (shared !== undefined) {
        this.#shared.check(shared);
        this.#shared.write(shared);
      }
      ledger.write(batch, this.#clock.now());
      this.#followers.wake(session);
    }
    const { epoch, inboxSeq } = ledger.receipt;
    return { seq: expected.seq + events.length, epoch, inboxSeq };
  }

  async *read(session: string, range: ReadRange = {}): AsyncGenerator<readonly Event[], void, undefined> {
    yield* this.#find(session).pages(range.after ?? 0, range.upTo ?? Number.POSITIVE_INFINITY);
  }

  async head(session: string): Promise<AppendReceipt | undefined> {
    this.#checkOpen();
    return this.#ledgers.get(session)?.receipt;
  }

  async claim(session: string, owner: string, options: ClaimOptions): Promise<Claim> {
    this.#checkOpen();
    const now = this.#clock.now();
    const ledger = this.#ledgers.get(session) ?? new MemoryLedger(session, now);
    const claim = ledger.claim(owner, options, now);
    this.#ledgers.set(session, ledger);
    return claim;
  }

  async renew(claim: Claim): Promise<AppendReceipt> {
    this.#checkOpen();
    const ledger = this.#ledgers.get(claim.session);
    if (ledger !== undefined) return ledger.renew(claim, this.#clock.now());
    throw new LedgerConflictError({ session: claim.session, expected: { seq: claim.seq, epoch: claim.epoch }, found: { seq: 0, epoch: 0 } });
  }

  async release(claim: Claim, options: ReleaseOptions = {}): Promise<ReleaseReceipt> {
    this.#checkOpen();
    return this.#ledgers.get(claim.session)?.release(claim, options) ?? { released: true, inboxSeq: 0 };
  }

  async post(session: string, item: InboxItem): Promise<PostReceipt> {
    return this.#find(session).post(item);
  }

  async inbox(session: string): Promise<readonly InboxEntry[]> {
    return this.#find(session).inbox();
  }

  follow(session: string, afterSeq: number, signal: AbortSignal): AsyncIterable<Event> {
    return this.#followers.follow(session, afterSeq, signal, (after) => this.read(session, { after }));
  }

  async fork(session: string, atSeq: number, newSession: string): Promise<void> {
    const ledger = this.#find(session);
    checkForkPoint(session, atSeq, ledger.seq);
    if (this.#ledgers.has(newSession)) throw new SessionExistsError({ session: newSession });
    this.#ledgers.set(newSession, ledger.fork(atSeq, newSession, this.#clock.now()));
  }

  async putBlob(bytes: Uint8Array): Promise<string> {
    this.#checkOpen();
    const address = blobAddress(this.#scope, bytes);
    if (!this.#blobs.has(address)) this.#blobs.set(address, bytes.slice());
    return address;
  }

  async getBlob(address: string): Promise<Uint8Array> {
    this.#checkOpen();
    return this.#checkBlob(address).slice();
  }

  async readShared(scope: string, scopeId: string): Promise<Readonly<Record<string, SharedValue>>> {
    this.#checkOpen();
    return this.#shared.read(scope, scopeId);
  }

  async list(
    options: { readonly limit?: number; readonly before?: Pick<SessionListing, 'updatedAt' | 'id'> } = {},
  ): Promise<readonly SessionListing[]> {
    this.#checkOpen();
    const limit = checkListLimit(options.limit);
    const { before } = options;
    return Array.from(this.#ledgers.values(), (ledger) => ledger.listing)
      .filter((listing) => before === undefined || compareListings(before, listing) < 0)
      .sort(compareListings)
      .slice(0, limit);
  }

  #checkBlob(address: string): Uint8Array {
    const bytes = this.#blobs.get(address);
    if (bytes === undefined) throw new BlobMissingError({ address });
    return bytes;
  }

  #find(session: string): MemoryLedger {
    this.#checkOpen();
    const ledger = this.#ledgers.get(session);
    if (ledger === undefined) throw new SessionNotFoundError({ session, app: this.#scope.app });
    return ledger;
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw this.#closed;
  }
}

type ListPlace = Pick<SessionListing, 'updatedAt' | 'id'>;

/** Newest first; equal times by id, from the end of the alphabet. */
function compareListings(left: ListPlace, right: ListPlace): number {
  if (left.updatedAt !== right.updatedAt) return right.updatedAt - left.updatedAt;
  if (left.id === right.id) return 0;
  return left.id < right.id ? 1 : -1;
}
