import type { JsonValue } from '../base/json.ts';
import type { Event } from './event.ts';
import type { Claim, ClaimOptions, ReleaseOptions, ReleaseReceipt } from './port/claims.ts';
import type { InboxEntry, InboxItem } from './port/inbox-items.ts';
import type { ListedRow, RowFilter, StoredRow } from './port/listed-rows.ts';
import type { Partitions } from './port/partitions.ts';
import type {
  RequestDraft,
  RequestFilter,
  RequestRow,
  RequestSettlement,
} from './port/request-rows.ts';
import type { PendingSend, PostOptions, Send, SendFilter } from './port/sends.ts';
import type {
  DeleteOptions,
  DueSession,
  ListOptions,
  SessionListing,
  SessionSummary,
} from './port/session-listing.ts';
import type { ReplaceReceipt, SessionRows } from './port/session-rows.ts';
import type { StorePressure } from './port/store-pressure.ts';
import type { StoreTime } from './port/store-time.ts';
import type {
  TakeOptions,
  TakeReceipt,
  TurnExplanation,
  TurnFilter,
  TurnPatch,
  TurnRow,
  TurnScope,
} from './port/turns.ts';

export type { Claim, ClaimOptions, ReleaseOptions, ReleaseReceipt } from './port/claims.ts';
export type { InboxEntry, InboxItem } from './port/inbox-items.ts';
export type { ListedRow, RowFilter, StoredRow } from './port/listed-rows.ts';
export type { Partitions } from './port/partitions.ts';
export type {
  RequestDraft,
  RequestFilter,
  RequestRow,
  RequestSettlement,
  RequestStatus,
} from './port/request-rows.ts';
export type { PendingSend, PostOptions, Send, SendFilter } from './port/sends.ts';
export type {
  DeleteOptions,
  DueSession,
  ListOptions,
  SessionListing,
  SessionSummary,
} from './port/session-listing.ts';
export type { RebuiltTurn, ReplaceReceipt, SessionRows } from './port/session-rows.ts';
export type { StorePressure } from './port/store-pressure.ts';
export type { StoreTime } from './port/store-time.ts';
export type {
  AdmissionLimits,
  ConcurrencyKey,
  RateKey,
  ShareWeights,
  Taken,
  TakeOptions,
  TakeReceipt,
  TurnBlock,
  TurnExplanation,
  TurnFilter,
  TurnPatch,
  TurnRow,
  TurnScope,
  TurnSettings,
  TurnState,
} from './port/turns.ts';

/**
 * End and ownership of a ledger: `seq` of its last event (0 when empty) and the epoch of its last
 * claim.
 */
export interface Head {
  readonly seq: number;
  readonly epoch: number;
}

/** Answer of `head`. `inboxSeq` grows with every `post`, so a writer sees that an item waits. */
export interface LedgerHead extends Head {
  readonly inboxSeq: number;
}

/** Answer of `append` and `renew`. */
export interface AppendReceipt extends LedgerHead, StoreTime {}

/** A range of a ledger: events with `after < seq <= upTo`. */
export interface ReadRange {
  /** @default 0 */
  readonly after?: number;
  /** @default the last event */
  readonly upTo?: number;
}

/**
 * Marker in the place of an event that this build cannot read. The event is damaged or missing, or
 * its type or version is not known.
 */
export interface UnreadableEvent {
  readonly type: 'unreadable';
  readonly seq: number;
  readonly reason: string;
  /** Stored data at this place, in the store's own form; missing when there is none. */
  readonly stored?: JsonValue;
}

export type StoredEvent = Event | UnreadableEvent;

/** Result of a fold for the first `seq` events, stored so that they need not be folded again. */
export interface FoldSnapshot {
  /** Name and versions of the fold: a snapshot with another key is useless. */
  readonly key: string;
  readonly seq: number;
  readonly value: JsonValue;
}

export interface PostReceipt extends StoreTime {
  readonly inboxSeq: number;
  /** True when an item with this key had been posted before. */
  readonly duplicate: boolean;
  /** The turn that a coalesced one has joined. The item was not posted. */
  readonly joined?: { readonly session: string; readonly run?: string };
  /** True when the turn has other interests, so that only one of them ended. */
  readonly left?: boolean;
}

/**
 * A write to shared state. It is applied only if the version of the key is still `baseVersion` (0:
 * the key does not exist, or was deleted). The writes of a batch follow each other: each finds the
 * values of those before it. Every write adds 1 to the version.
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

/** Data that land together, or not at all. */
export interface Batch {
  /** Events, numbered from `expected.seq + 1` on. May be empty when the batch only consumes. */
  readonly events: readonly Event[];
  /** Positions of the inbox items that these events answer; they are removed. */
  readonly consumes?: readonly number[];
  /** Addresses of the blobs that the events refer to. */
  readonly blobs?: readonly string[];
  readonly shared?: readonly SharedWrite[];
  /** Requests that these events make; one that the store already has stays as it is. */
  readonly requests?: readonly RequestDraft[];
  /** Settles requests that are still pending; others stay as they are. */
  readonly settles?: readonly RequestSettlement[];
  readonly summary?: SessionSummary;
  /**
   * Epoch milliseconds at which the session wants to be woken; `null` for never. Missing:
   * unchanged.
   */
  readonly wakeAt?: number | null;
  /** Messages to other ledgers. They wait here until the receiver has them. */
  readonly sends?: readonly Send[];
  readonly turn?: TurnPatch;
  readonly rows?: readonly ListedRow[];
}

/**
 * The ledgers of one tenant and app. No method crosses that border. A session's ledger begins to
 * exist with its first claim.
 *
 * Contract, checked by `storeContract` of `adjutant/testing`:
 * - `append` is one compare-and-set on the head plus the inserts, in one transaction, checked
 *   before anything is written. It is idempotent by event id: when the epoch is the writer's and
 *   the events after `expected` are this very batch, it succeeds. Another head:
 *   `LedgerConflictError`. After any other failure the batch may have landed: send the same batch
 *   again, unless the error's data contain `permanent`.
 * - `post` never conflicts with the writer.
 * - Events that `append` confirmed are durable in the sense that the store promises.
 */
export interface LedgerStore {
  /** @throws LedgerConflictError, BlobMissingError, StateConflictError, StoreUnavailableError */
  append(session: string, expected: Head, batch: Batch): Promise<AppendReceipt>;
  /**
   * Reads events in ascending order, in pages. Ends at the last event at the time of the last page.
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
   * Id of a ledger that no other one of the store gets, neither a fork nor a later session of the
   * same name; `undefined` when there is no such session.
   */
  birth(session: string): Promise<string | undefined>;
  /**
   * The store's clock: epoch milliseconds that never fall. Code that makes a stored instant, or
   * compares one with the time, uses it: leases, `wakeAt`, the expiry of requests. Every receipt
   * carries it too.
   */
  now(): Promise<number>;
  /**
   * Claims the ledger under the next epoch and a lease; older writers are fenced off.
   * @throws SessionBusyError while another owner's lease is live, unless forced
   */
  claim(session: string, owner: string, options: ClaimOptions): Promise<Claim>;
  /**
   * Prolongs the lease.
   * @throws LedgerConflictError when the claim is no longer the last one
   */
  renew(claim: Claim): Promise<AppendReceipt>;
  /**
   * Releases the lease, unless an item newer than `inboxSeq` was posted. The check is in the same
   * transaction. So a post is either seen by this owner, or finds the ledger free. A claim that is
   * no longer the last one is released without effect.
   */
  release(claim: Claim, options?: ReleaseOptions): Promise<ReleaseReceipt>;
  /**
   * Posts an item for the writer. An item that answers a request settles it in the same
   * transaction: of all answers, expiries and cancels one wins. A request that has expired by the
   * store's clock can no longer be answered.
   * @throws SessionNotFoundError, RequestNotFoundError, RequestSettledError
   * @throws SessionGoneError when another session of this name is meant
   * @throws QueueFullError when as many turns wait as `admit` allows
   */
  post(session: string, item: InboxItem, options?: PostOptions): Promise<PostReceipt>;
  /** Returns the items in the inbox: control lane first, then in the order of posting. */
  inbox(session: string): Promise<readonly InboxEntry[]>;
  /**
   * Follows durable events after `afterSeq` as they land, without gaps, until `signal` aborts.
   * @throws SessionNotFoundError
   */
  follow(session: string, afterSeq: number, signal: AbortSignal): AsyncIterable<Event>;
  /**
   * Makes a new ledger that shares the prefix up to `atSeq`. Its cost does not grow with the
   * prefix.
   * @param first events of its own, numbered from `atSeq + 1` on, that land with it or not at all;
   * they refer to no blobs
   * @throws SessionNotFoundError, SessionExistsError, RangeError
   */
  fork(session: string, atSeq: number, newSession: string, first?: readonly Event[]): Promise<void>;
  /**
   * The secret of this tenant and app for addresses of blobs. With it, a person who knows a content
   * cannot find its address. Random, made at the first use, and the same from then on in all
   * processes. Missing: addresses are made without a secret.
   */
  addressKey?(): Promise<Uint8Array>;
  /**
   * Stores bytes under an address that depends on them and on tenant and app. Bytes that are stored
   * twice are stored once.
   * @param address the address, for callers that know it already. Bytes that are there already
   * stay. @default `blobAddress` of the bytes and the store's `addressKey`
   */
  putBlob(bytes: Uint8Array, address?: string): Promise<string>;
  /**
   * Reads a blob.
   * @param session session that the blob is read for. The blob is missing unless an append to this
   * session, or to the prefix that it shares as a fork, has referred to it. Required for reads of
   * references in events. @default all sessions of the tenant and app
   * @throws BlobMissingError
   */
  getBlob(address: string, session?: string): Promise<Uint8Array>;
  /** The values of one shared scope, and the versions of keys that were deleted. */
  readShared(scope: string, scopeId: string): Promise<Readonly<Record<string, SharedValue>>>;
  /** Sessions, newest first. */
  list(options?: ListOptions): Promise<readonly SessionListing[]>;
  /**
   * Ids of the sessions in which a run with this id began, the last changed first. A fork is not
   * among them when the run began in the prefix that it shares. Missing: the store cannot find them
   * without reading all ledgers.
   */
  sessionsOfRun?(run: string, options?: { readonly limit?: number }): Promise<readonly string[]>;
  /** Requests in the order in which they were made. */
  requests(filter?: RequestFilter): Promise<readonly RequestRow[]>;
  /**
   * Settles a pending request, for the writer of its session. The same settlement again is no
   * error.
   * @throws RequestNotFoundError, RequestSettledError when it is settled in another way
   */
  settle(session: string, settlement: RequestSettlement): Promise<void>;
  /** The turn of a session; `undefined` when it has none. */
  turn(session: string): Promise<TurnRow | undefined>;
  /** Turns in the order in which they became able to run. */
  turns(filter?: TurnFilter): Promise<readonly TurnRow[]>;
  /**
   * Explains why a turn is not taken now: asked of the same order as `take`, which changes nothing.
   * `undefined` when the session has no turn.
   */
  explainTurn(session: string, scope: TurnScope): Promise<TurnExplanation | undefined>;
  /** Rows of one kind, in the order of `at`. */
  rows(filter: RowFilter): Promise<readonly StoredRow[]>;
  /** Sends without a receipt, each sender's in their order. */
  sends(filter?: SendFilter): Promise<readonly PendingSend[]>;
  /** Removes sends that have arrived. Sends that are gone are no error. */
  sent(session: string, numbers: readonly number[]): Promise<void>;
  /**
   * Sessions without a live lease whose `wakeAt` has come or whose inbox is not empty; the longest
   * overdue first.
   */
  due(options?: { readonly limit?: number }): Promise<readonly DueSession[]>;
  /**
   * Makes a session unreadable and its id free at once. Events that forks share stay as long as one
   * of the forks lives. Requests, inbox and snapshots are removed. So are blobs that nothing else
   * refers to, even when a batch under way refers to one: its append fails with `BlobMissingError`.
   * Its writer is fenced off.
   * @throws SessionNotFoundError
   */
  delete(session: string, options?: DeleteOptions): Promise<void>;
  /**
   * Stores the result of a fold; one snapshot for each key and `seq`.
   * @throws SessionNotFoundError
   */
  putSnapshot(session: string, snapshot: FoldSnapshot): Promise<void>;
  /**
   * Returns the last snapshot with this key whose `seq` is at most `upTo`. A fork also has those of
   * the prefix that it shares.
   */
  getSnapshot(session: string, key: string, upTo: number): Promise<FoldSnapshot | undefined>;
}

/** Operations across tenants and apps, for sweepers and operators only. */
export interface StoreAdmin {
  /** Like `LedgerStore.due`, for all tenants and apps, or for all tenants of one app. */
  due(options?: { readonly limit?: number; readonly app?: string }): Promise<readonly DueSession[]>;
  /**
   * Chooses what may run now, and claims it, in one transaction. Sessions that are due and have no
   * turn count as turns of level 1. The order: level 0 first; then the level whose oldest turn has
   * waited longest, where each level counts 300 s; in it the flow of tenant and requester that has
   * had the least of its share; in it the oldest turn. Every 32nd turn of a level is its oldest.
   */
  take(options: TakeOptions): Promise<TakeReceipt>;
  /** Like `LedgerStore.sends`, for all tenants of an app. */
  sends(
    filter: SendFilter & { readonly app: string },
  ): Promise<readonly (PendingSend & { readonly tenant: string })[]>;
  /**
   * Replaces rows that follow from a ledger and its inbox, in one transaction, when all three
   * numbers of the head are as expected. A writer whose lease is over is fenced off.
   * @throws SessionBusyError while a lease is live; SessionNotFoundError
   */
  replaceRows(
    at: { readonly tenant: string; readonly app: string; readonly session: string },
    expected: LedgerHead,
    rows: SessionRows,
  ): Promise<ReplaceReceipt>;
  /**
   * Removes blobs without references whose last put is more than `olderThanMs` ago.
   * @returns the number of removed blobs
   */
  sweepBlobs(options?: {
    /** @default 86_400_000 (24 hours) */
    readonly olderThanMs?: number;
  }): Promise<number>;
  /** The load of the store, as far as this process knows it. @default none is told */
  readonly pressure?: StorePressure;
  /**
   * Splits the table of events by a hash of the ledger, all at once or not at all.
   * @param partitions 2 to 256; the same as before changes nothing @default 16
   * @throws InvalidOptionError, SessionBusyError while a process holds a session
   */
  partition?(partitions?: number): Promise<Partitions>;
}

/** A place that holds ledgers of many tenants and apps. */
export interface Store {
  /** Text from the user who opened it, for messages. */
  readonly description: string;
  /**
   * Kind of the store: `memory`, `sqlite`, `postgres`, or a name of its own. Says nothing of where
   * it is. @default none is told
   */
  readonly kind?: string;
  /** True for one whose content is encrypted. @default false */
  readonly isEncrypted?: boolean;
  /**
   * Returns the ledgers of one tenant and app. Their methods may throw StoreUnavailableError and
   * StoreTooNewError, when the store is opened on first use.
   */
  for(scope: { readonly tenant: string; readonly app: string }): LedgerStore;
  /** Operations across tenants and apps. */
  readonly admin: StoreAdmin;
  /** Waits for work under way, and frees all resources. */
  close(): Promise<void>;
}
