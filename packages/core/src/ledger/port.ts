import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Actor, Event, RequestDetails, RequestKind } from './event.ts';

/**
 * Where a ledger ends and under which ownership: `seq` of its last event (0 when empty) and the
 * epoch of its last claim.
 */
export interface Head {
  readonly seq: number;
  readonly epoch: number;
}

/**
 * What `head` answers. `inboxSeq` grows with every `post`, so a writer sees that something waits.
 */
export interface LedgerHead extends Head {
  readonly inboxSeq: number;
}

/**
 * When something was done, by the store's clock, in epoch milliseconds. It never falls, whatever
 * the clocks of processes and machines do.
 */
export interface StoreTime {
  readonly now: number;
}

/** What an `append` or `renew` answers. */
export interface AppendReceipt extends LedgerHead, StoreTime {}

/** A stretch of a ledger: events with `after < seq <= upTo`. */
export interface ReadRange {
  /** @default 0 */
  readonly after?: number;
  /** @default the last event */
  readonly upTo?: number;
}

/**
 * What stands in the place of an event that this build cannot read: it is damaged, missing, or of a
 * type or version that it does not know.
 */
export interface UnreadableEvent {
  readonly type: 'unreadable';
  readonly seq: number;
  readonly reason: string;
  /** What the store has there, in its own form; left out when it has nothing. */
  readonly stored?: JsonValue;
}

export type StoredEvent = Event | UnreadableEvent;

/** The ownership of a ledger, as `claim` gives it. */
export interface Claim extends StoreTime {
  readonly session: string;
  readonly owner: string;
  readonly epoch: number;
  /** `seq` of the last event at the time of the claim. */
  readonly seq: number;
  readonly inboxSeq: number;
  /** Epoch milliseconds, by the store's clock, at which the lease ends unless it is renewed. */
  readonly until: number;
}

export interface ClaimOptions {
  /** Milliseconds that the lease lasts from the claim and from every append and renewal. */
  readonly ttl: number;
  /** Take the ledger over from a live owner. @default false */
  readonly force?: boolean;
}

export interface ReleaseOptions {
  /**
   * The last inbox item that the writer has seen: the lease is kept when a newer one was posted.
   * @default the lease is given back whatever was posted
   */
  readonly inboxSeq?: number | undefined;
}

export interface ReleaseReceipt extends StoreTime {
  /** `false` when the lease was kept because of what was posted. */
  readonly released: boolean;
  readonly inboxSeq: number;
}

/** Something for the writer of a ledger, from anybody else. */
export interface InboxItem {
  /** Two items with one key are one item. */
  readonly key: string;
  /** `control` is drained before `input`. */
  readonly lane: 'control' | 'input';
  readonly by: Actor;
  readonly at: number;
  readonly type:
    | 'user'
    | 'tool_input'
    | 'cancel'
    | 'pause'
    | 'child_end'
    | 'wake'
    | 'token_refused'
    | 'grant'
    | 'revoke';
  readonly data: JsonObject;
  /** The pending request that this item answers: the post fails unless it is pending still. */
  readonly settles?: string;
}

/**
 * `answered`: somebody has decided. `expired`: nobody did in time. `escalated`: nobody did in time,
 * and others are asked. `cancelled`: what asked was cancelled. `withdrawn`: what asked does not ask
 * this any more.
 */
export type RequestStatus =
  | 'pending'
  | 'answered'
  | 'expired'
  | 'escalated'
  | 'cancelled'
  | 'withdrawn';

/** A question to somebody outside that a run waits for, as the store lists it. */
export interface PendingRequest {
  /** Unique within tenant and app. */
  readonly requestId: string;
  readonly session: string;
  readonly invocationId: string;
  readonly callId: string;
  readonly kind: RequestKind;
  /** The tool; for a limit, the limit. */
  readonly name: string;
  readonly fingerprint: string;
  readonly generation: number;
  /** What people are shown. */
  readonly request: RequestDetails;
  /** The session's `user` scope, if it has one. */
  readonly user?: string;
  /** Who may answer; missing: anybody. */
  readonly mayDecide?: readonly string[];
  /** Name of the operation whose result is awaited. */
  readonly operationId?: string;
  readonly createdAt: number;
  readonly expiresAt?: number;
}

export interface RequestRow extends PendingRequest {
  readonly status: RequestStatus;
  /** Who settled it. */
  readonly settledBy?: Actor;
  readonly settledAt?: number;
}

/** How a request is settled by the writer of its session. */
export interface RequestSettlement {
  readonly requestId: string;
  readonly status: Exclude<RequestStatus, 'pending'>;
  readonly by: Actor;
}

export interface RequestFilter {
  readonly requestId?: string;
  readonly operationId?: string;
  readonly session?: string;
  readonly user?: string;
  /** @default all */
  readonly status?: RequestStatus;
  readonly kinds?: readonly RequestKind[];
  /** @default 100 */
  readonly limit?: number;
  /** Continues after the last row of the page before. */
  readonly after?: Pick<RequestRow, 'createdAt' | 'requestId'>;
}

/** A session that nobody works on and that has something to be done. */
export interface DueSession {
  readonly tenant: string;
  readonly app: string;
  readonly session: string;
}

/** What a fold gave for the first `seq` events, kept so that they need not be folded again. */
export interface FoldSnapshot {
  /** Name and versions of the fold: a snapshot with another key is of no use. */
  readonly key: string;
  readonly seq: number;
  readonly value: JsonValue;
}

/** An item that waits in the inbox; `position` is its place in the order of posting. */
export interface InboxEntry extends InboxItem {
  readonly position: number;
}

export interface PostReceipt extends StoreTime {
  readonly inboxSeq: number;
  /** Whether an item with this key had been posted before. */
  readonly duplicate: boolean;
}

/**
 * A write to shared state, applied only if the version of the key is still `baseVersion` (0: the
 * key does not exist, or was deleted). The writes of a batch follow each other: each finds what
 * those before it left. Every write adds 1 to the version.
 */
export interface SharedWrite {
  readonly scope: string;
  readonly scopeId: string;
  readonly key: string;
  /** `undefined` deletes the key. */
  readonly value: JsonValue | undefined;
  readonly baseVersion: number;
}

export interface SharedValue {
  /**
   * Missing when the key was deleted. Its version is kept, and grows on when the key is set again.
   */
  readonly value: JsonValue | undefined;
  readonly version: number;
}

/** What the session list shows of a session; rewritten with every append that carries it. */
export interface SessionSummary {
  readonly status: 'active' | 'awaiting_input' | 'completed' | 'error';
  /** The first user message, shortened. */
  readonly title?: string;
  /** Name of the runnable of the last run. */
  readonly runnable?: string;
  /** The session's `user` scope, if it has one. */
  readonly user?: string;
}

export interface ListOptions {
  /** @default 100 */
  readonly limit?: number;
  /** Newest first, by the time of the last event or of the first. @default 'updatedAt' */
  readonly order?: 'updatedAt' | 'createdAt';
  /** Only the session with this id. */
  readonly id?: string;
  readonly status?: SessionSummary['status'];
  readonly runnable?: string;
  readonly user?: string;
  /** Continues after the last listing of the page before; of `order`'s time. */
  readonly before?: Pick<SessionListing, 'updatedAt' | 'createdAt' | 'id'>;
}

export interface DeleteOptions {
  /** Takes the session's forks along, and all that it shares with them. @default false */
  readonly erase?: boolean;
}

export interface SessionListing extends SessionSummary {
  readonly id: string;
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Everything that lands together, or not at all. */
export interface Batch {
  /** Numbered from `expected.seq + 1` on. May be empty when the batch only consumes. */
  readonly events: readonly Event[];
  /** Positions of the inbox items that these events answer; they are removed. */
  readonly consumes?: readonly number[];
  /** Addresses of the blobs that the events refer to. */
  readonly blobs?: readonly string[];
  readonly shared?: readonly SharedWrite[];
  /** Requests that these events make; one that the store has already is left as it is. */
  readonly requests?: readonly PendingRequest[];
  /** Settles requests that are still pending; others stay as they are. */
  readonly settles?: readonly RequestSettlement[];
  readonly summary?: SessionSummary;
  /**
   * Epoch milliseconds at which the session wants to be woken; `null` for never. Left out:
   * unchanged.
   */
  readonly wakeAt?: number | null;
}

/**
 * The ledgers of one tenant and app. No method crosses that border. A session's ledger comes into
 * being with its first claim.
 *
 * Contract, checked by `storeContract` of `adjutant/testing`:
 * - `append` is one compare-and-set on the head plus the inserts, in one transaction, checked
 *   before anything is written.
 *   It is idempotent by event id: when the epoch is the writer's and the events after `expected` are this very batch, it succeeds.
 *   Another head: `LedgerConflictError`. Any other failure leaves it open whether the batch landed: send the same batch again, unless the
 *   error's data say that it is `permanent`.
 * - `post` never conflicts with the writer.
 * - What `append` confirmed is durable in the sense that the store promises.
 */
export interface LedgerStore {
  /** @throws LedgerConflictError, BlobMissingError, StateConflictError, StoreUnavailableError */
  append(session: string, expected: Head, batch: Batch): Promise<AppendReceipt>;
  /**
   * Events in ascending order, in pages. Ends at the last event at the time of the last page.
   * @throws SessionNotFoundError, LedgerUnreadableError
   */
  read(session: string, range?: ReadRange): AsyncIterable<readonly Event[]>;
  /**
   * Like `read`, with an `UnreadableEvent` in the place of each event that `read` would fail at.
   * @throws SessionNotFoundError
   */
  readStored(session: string, range?: ReadRange): AsyncIterable<readonly StoredEvent[]>;
  /** The head of a ledger, or `undefined` when there is no such session. */
  head(session: string): Promise<LedgerHead | undefined>;
  /**
   * The store's clock: epoch milliseconds that never fall. Whoever makes an instant that is stored,
   * or holds one against the time, goes by it: leases, `wakeAt`, the expiry of requests. Every
   * receipt carries it too.
   */
  now(): Promise<number>;
  /**
   * Epoch + 1 under a lease; older writers are fenced. @throws SessionBusyError while another
   * owner's lease is live, unless forced
   */
  claim(session: string, owner: string, options: ClaimOptions): Promise<Claim>;
  /** Prolongs the lease. @throws LedgerConflictError when the claim is no longer the last one */
  renew(claim: Claim): Promise<AppendReceipt>;
  /**
   * Gives the lease back, unless something newer than `inboxSeq` was posted: looked up in the same
   * transaction, so that a post is either seen by this owner or finds the ledger free. A claim that
   * is no longer the last one is released without effect.
   */
  release(claim: Claim, options?: ReleaseOptions): Promise<ReleaseReceipt>;
  /**
   * Leaves something for the writer. An item that answers a request settles it in the same
   * transaction: of all answers, expiries and cancels one wins. A request whose time is over by the
   * store's clock cannot be answered any more.
   * @throws SessionNotFoundError, RequestNotFoundError, RequestSettledError
   */
  post(session: string, item: InboxItem): Promise<PostReceipt>;
  /** What waits in the inbox: control lane first, then in order of posting. */
  inbox(session: string): Promise<readonly InboxEntry[]>;
  /**
   * Durable events after `afterSeq` as they land, without gaps, until `signal` aborts. @throws
   * SessionNotFoundError
   */
  follow(session: string, afterSeq: number, signal: AbortSignal): AsyncIterable<Event>;
  /**
   * A new ledger that shares the prefix up to `atSeq`. Its cost does not grow with the prefix.
   * @param first events of its own, numbered from `atSeq + 1` on, that land with it or not at all;
   * they refer to no blobs
   * @throws SessionNotFoundError, SessionExistsError, RangeError
   */
  fork(session: string, atSeq: number, newSession: string, first?: readonly Event[]): Promise<void>;
  /**
   * The secret of this tenant and app that addresses of blobs are made with, so that nobody can
   * find an address who knows a content. Random, made at the first use, and always the same from
   * then on, in all processes. Left out: addresses are made without one.
   */
  addressKey?(): Promise<Uint8Array>;
  /**
   * Stores bytes under an address that depends on them and on tenant and app; storing them twice is
   * storing them once.
   * @param address the address to take, for those who know it before. Bytes that are there already
   * stay. @default `blobAddress` of the bytes and the store's `addressKey`
   */
  putBlob(bytes: Uint8Array, address?: string): Promise<string>;
  /**
   * @param session on behalf of which the blob is read: it is missing unless an append to this
   * session has referred to it, or one to the prefix that it shares as a fork. Whoever reads what
   * events refer to must give it. @default those of all sessions of the tenant and app
   * @throws BlobMissingError
   */
  getBlob(address: string, session?: string): Promise<Uint8Array>;
  /** The values of one shared scope, and the versions of keys that were deleted. */
  readShared(scope: string, scopeId: string): Promise<Readonly<Record<string, SharedValue>>>;
  /** Sessions, newest first. */
  list(options?: ListOptions): Promise<readonly SessionListing[]>;
  /** Requests in the order in which they were made. */
  requests(filter?: RequestFilter): Promise<readonly RequestRow[]>;
  /**
   * Settles a pending request, for the writer of its session. Doing it again in the same way is no
   * error.
   * @throws RequestNotFoundError, RequestSettledError when it is settled in another way
   */
  settle(session: string, settlement: RequestSettlement): Promise<void>;
  /**
   * Sessions that no live lease holds and whose `wakeAt` has come or whose inbox is not empty; the
   * longest overdue first.
   */
  due(options?: { readonly limit?: number }): Promise<readonly DueSession[]>;
  /**
   * Makes a session unreadable and its id free at once. Events that forks share stay for as long as
   * one of them lives; requests, inbox and snapshots go, and so do the blobs that nothing else
   * refers to any more, those that a batch under way would refer to included: its append fails with
   * `BlobMissingError`. Its writer is fenced.
   * @throws SessionNotFoundError
   */
  delete(session: string, options?: DeleteOptions): Promise<void>;
  /** Keeps what a fold gave; one snapshot for each key and `seq`. @throws SessionNotFoundError */
  putSnapshot(session: string, snapshot: FoldSnapshot): Promise<void>;
  /**
   * The last snapshot with this key whose `seq` is at most `upTo`; of a fork also those of the
   * prefix that it shares.
   */
  getSnapshot(session: string, key: string, upTo: number): Promise<FoldSnapshot | undefined>;
}

/** What crosses tenants and apps: for sweepers and operators only. */
export interface StoreAdmin {
  /** As `LedgerStore.due`, of all tenants and apps, or of all tenants of one app. */
  due(options?: { readonly limit?: number; readonly app?: string }): Promise<readonly DueSession[]>;
  /**
   * Removes blobs that nothing refers to and that were put last more than `olderThanMs` ago.
   * @returns how many
   */
  sweepBlobs(options?: {
    /** @default 86_400_000 (24 hours) */ readonly olderThanMs?: number;
  }): Promise<number>;
}

/** A place that holds ledgers of many tenants and apps. */
export interface Store {
  /** For messages: what the user gave to open it. */
  readonly description: string;
  /**
   * @throws StoreUnavailableError, StoreTooNewError by the methods of what it returns, when the
   * store is opened on first use
   */
  for(scope: { readonly tenant: string; readonly app: string }): LedgerStore;
  /** What crosses tenants and apps. */
  readonly admin: StoreAdmin;
  /** Waits for what is under way and gives all resources back. */
  close(): Promise<void>;
}
