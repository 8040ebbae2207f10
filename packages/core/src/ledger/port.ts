import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Actor, Event } from './event.ts';

/** Where a ledger ends and under which ownership: `seq` of its last event (0 when empty) and the epoch of its last claim. */
export interface Head {
  readonly seq: number;
  readonly epoch: number;
}

/** What an `append` or `renew` answers. `inboxSeq` grows with every `post`, so a writer sees that something waits. */
export interface AppendReceipt extends Head {
  readonly inboxSeq: number;
}

/** A stretch of a ledger: events with `after < seq <= upTo`. */
export interface ReadRange {
  /** @default 0 */
  readonly after?: number;
  /** @default the last event */
  readonly upTo?: number;
}

/** The ownership of a ledger, as `claim` gives it. */
export interface Claim {
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
  /** The last inbox item that the writer has seen: the lease is kept when a newer one was posted. @default the lease is given back whatever was posted */
  readonly inboxSeq?: number | undefined;
}

export interface ReleaseReceipt {
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
  readonly type: 'user' | 'tool_input' | 'cancel' | 'child_end' | 'wake';
  readonly data: JsonObject;
}

/** An item that waits in the inbox; `position` is its place in the order of posting. */
export interface InboxEntry extends InboxItem {
  readonly position: number;
}

export interface PostReceipt {
  readonly inboxSeq: number;
  /** Whether an item with this key had been posted before. */
  readonly duplicate: boolean;
}

/**
 * A write to shared state, applied only if the version of the key is still `baseVersion` (0: the key does not exist, or was deleted).
 * The writes of a batch follow each other: each finds what those before it left. Every write adds 1 to the version.
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
  /** Missing when the key was deleted. Its version is kept, and grows on when the key is set again. */
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
  readonly summary?: SessionSummary;
  /** Epoch milliseconds at which the session wants to be woken; `null` for never. Left out: unchanged. */
  readonly wakeAt?: number | null;
}

/**
 * The ledgers of one tenant and app. No method crosses that border. A session's ledger comes into being with its first claim.
 *
 * Contract, checked by `storeContract` of `adjutant/testing`:
 * - `append` is one compare-and-set on the head plus the inserts, in one transaction, checked before anything is written.
 *   It is idempotent by event id: when the epoch is the writer's and the events after `expected` are this very batch, it succeeds.
 *   Another head: `LedgerConflictError`. Any other failure leaves it open whether the batch landed: send the same batch again, unless the
 *   error's data say that it is `permanent`.
 * - `post` never conflicts with the writer.
 * - What `append` confirmed is durable in the sense that the store promises.
 */
export interface LedgerStore {
  /** @throws LedgerConflictError, BlobMissingError, StateConflictError, StoreUnavailableError */
  append(session: string, expected: Head, batch: Batch): Promise<AppendReceipt>;
  /** Events in ascending order, in pages. Ends at the last event at the time of the last page. @throws SessionNotFoundError */
  read(session: string, range?: ReadRange): AsyncIterable<readonly Event[]>;
  /** The head of a ledger, or `undefined` when there is no such session. */
  head(session: string): Promise<AppendReceipt | undefined>;
  /** Epoch + 1 under a lease; older writers are fenced. @throws SessionBusyError while another owner's lease is live, unless forced */
  claim(session: string, owner: string, options: ClaimOptions): Promise<Claim>;
  /** Prolongs the lease. @throws LedgerConflictError when the claim is no longer the last one */
  renew(claim: Claim): Promise<AppendReceipt>;
  /**
   * Gives the lease back, unless something newer than `inboxSeq` was posted: looked up in the same transaction, so that a post is either
   * seen by this owner or finds the ledger free. A claim that is no longer the last one is released without effect.
   */
  release(claim: Claim, options?: ReleaseOptions): Promise<ReleaseReceipt>;
  /** Leaves something for the writer. @throws SessionNotFoundError */
  post(session: string, item: InboxItem): Promise<PostReceipt>;
  /** What waits in the inbox: control lane first, then in order of posting. */
  inbox(session: string): Promise<readonly InboxEntry[]>;
  /** Durable events after `afterSeq` as they land, without gaps, until `signal` aborts. @throws SessionNotFoundError */
  follow(session: string, afterSeq: number, signal: AbortSignal): AsyncIterable<Event>;
  /** A new ledger that shares the prefix up to `atSeq`. Its cost does not grow with the prefix. @throws SessionNotFoundError, SessionExistsError, RangeError */
  fork(session: string, atSeq: number, newSession: string): Promise<void>;
  /** Stores bytes under an address that depends on them and on tenant and app; storing them twice is storing them once. */
  putBlob(bytes: Uint8Array): Promise<string>;
  /** @throws BlobMissingError */
  getBlob(address: string): Promise<Uint8Array>;
  /** The values of one shared scope, and the versions of keys that were deleted. */
  readShared(scope: string, scopeId: string): Promise<Readonly<Record<string, SharedValue>>>;
  /** Sessions by the time of their last event, newest first. `before` continues after the last listing of the page before. */
  list(options?: { readonly limit?: number; readonly before?: Pick<SessionListing, 'updatedAt' | 'id'> }): Promise<readonly SessionListing[]>;
}

/** A place that holds ledgers of many tenants and apps. */
export interface Store {
  /** For messages: what the user gave to open it. */
  readonly description: string;
  /** @throws StoreUnavailableError, StoreTooNewError by the methods of what it returns, when the store is opened on first use */
  for(scope: { readonly tenant: string; readonly app: string }): LedgerStore;
  /** Waits for what is under way and gives all resources back. */
  close(): Promise<void>;
}
