import type { JsonObject } from '../../base/json.ts';
import type { Actor } from '../../ledger/event.ts';
import type {
  AppendReceipt,
  Claim,
  ClaimOptions,
  DueSession,
  FoldSnapshot,
  Head,
  InboxEntry,
  InboxItem,
  LedgerHead,
  ListedRow,
  ListOptions,
  PendingSend,
  PostOptions,
  PostReceipt,
  RebuiltTurn,
  ReleaseOptions,
  ReleaseReceipt,
  ReplaceReceipt,
  RequestFilter,
  RequestRow,
  RequestSettlement,
  RowFilter,
  SessionListing,
  SessionSummary,
  SharedValue,
  SharedWrite,
  StoredRow,
  TakeOptions,
  TakeReceipt,
  TurnExplanation,
  TurnFilter,
  TurnPatch,
  TurnRow,
  TurnScope,
} from '../../ledger/port.ts';
import type { EventFields } from './encoding.ts';

/** The settings of the worker thread. */
export interface WorkerSettings {
  readonly path: string;
  readonly synchronous: 'full' | 'normal';
  readonly busyTimeoutMs: number;
  /** True when times are those of the system, and not of a clock that was given. */
  readonly isSystemClock: boolean;
}

export interface ScopeAddress {
  readonly tenant: string;
  readonly app: string;
}

export interface SessionAddress extends ScopeAddress {
  readonly session: string;
}

/**
 * The time of the main thread's clock. The worker turns it into the store's time, which the reply
 * has.
 */
interface Timed {
  readonly now: number;
}

/** A request of a run: its text, and the columns that it is found by. */
export interface RequestFields {
  readonly requestId: string;
  readonly kind: string;
  readonly user: string | null;
  readonly operationId: string | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly body: string;
}

/** A request with what became of it. */
export interface SettledFields extends RequestFields {
  readonly status: RequestRow['status'];
  readonly settledBy: Actor | null;
  readonly settledAt: number | null;
}

/** A row that is found across sessions, with its body as text; without a body it is removed. */
export interface RowFields extends Pick<ListedRow, 'kind' | 'id' | 'status' | 'at'> {
  readonly expiresAt: number | null;
  readonly user: string | null;
  readonly body: string | null;
}

export interface AppendRequest extends SessionAddress, Timed {
  readonly expected: Head;
  readonly fields: EventFields;
  readonly consumes?: readonly number[] | undefined;
  readonly blobs?: readonly string[] | undefined;
  readonly shared?: readonly SharedWrite[] | undefined;
  readonly requests?: readonly RequestFields[] | undefined;
  readonly settles?: readonly RequestSettlement[] | undefined;
  readonly summary?: SessionSummary | undefined;
  readonly wakeAt?: number | null | undefined;
  /** JSON texts of messages to other ledgers. */
  readonly sends?: readonly string[] | undefined;
  readonly turn?: TurnPatch | undefined;
  readonly rows?: readonly RowFields[] | undefined;
}

/**
 * The address of a read of several pages. It stays with its first ledger: the session may be
 * deleted and another one get its id.
 */
interface LedgerAddress extends SessionAddress {
  readonly ledger: number | undefined;
}

export interface ReadRequest extends LedgerAddress {
  readonly after: number;
  readonly upTo: number | undefined;
}

/** A stretch of one ledger as the JSON text of an array of rows. */
export interface ReadPage {
  readonly ledger: number;
  readonly text: string;
  /** Events with `after < seq <= through` are in the text. */
  readonly after: number;
  readonly through: number;
  readonly more: boolean;
}

/** A place in the order of blobs by the time of their last put. */
export interface BlobPlace {
  readonly putAt: number;
  readonly row: number;
}

export interface SweptBlobs {
  readonly removed: number;
  /** The place to go on from; missing at the end. */
  readonly last?: BlobPlace;
}

/** The operations that change the file; those that wait together share a transaction. */
export interface WriteOperations {
  append: { request: AppendRequest; reply: AppendReceipt };
  claim: {
    request: SessionAddress & Timed & ClaimOptions & { readonly owner: string };
    reply: Claim;
  };
  renew: { request: ScopeAddress & Timed & { readonly claim: Claim }; reply: AppendReceipt };
  release: {
    request: ScopeAddress & Timed & ReleaseOptions & { readonly claim: Claim };
    reply: ReleaseReceipt;
  };
  post: {
    request: SessionAddress &
      Timed & {
        readonly item: InboxItem;
        readonly options: Omit<PostOptions, 'rows'>;
        readonly rows: readonly RowFields[] | undefined;
      };
    reply: PostReceipt;
  };
  take: { request: Timed & { readonly options: TakeOptions }; reply: TakeReceipt };
  /** Takes turns to count them, so that it needs a transaction, and forgets that. */
  explainTurn: {
    request: SessionAddress & Timed & { readonly scope: TurnScope };
    reply: TurnExplanation | undefined;
  };
  /** Replaces rows that follow from a ledger and its inbox. */
  replaceRows: {
    request: SessionAddress &
      Timed & {
        readonly expected: LedgerHead;
        readonly summary: SessionSummary | undefined;
        readonly requests: readonly SettledFields[] | undefined;
        readonly listed:
          | { readonly kinds: readonly string[]; readonly rows: readonly RowFields[] }
          | undefined;
        readonly turn: RebuiltTurn | null | undefined;
      };
    reply: ReplaceReceipt;
  };
  /** Removes sends that have arrived. */
  sent: { request: SessionAddress & { readonly numbers: readonly number[] }; reply: null };
  settle: {
    request: SessionAddress & Timed & { readonly settlement: RequestSettlement };
    reply: null;
  };
  fork: {
    request: SessionAddress &
      Timed & { readonly atSeq: number; readonly newSession: string; readonly fields: EventFields };
    reply: null;
  };
  /** Keeps a secret for addresses, unless there is one; replies with the one that is kept. */
  keepAddressKey: { request: ScopeAddress & { readonly key: Uint8Array }; reply: Uint8Array };
  putBlob: {
    request: ScopeAddress & Timed & { readonly address: string; readonly bytes: Uint8Array };
    reply: null;
  };
  /**
   * Removes blobs without references. It checks a number of those whose last put was before a time,
   * from a place on.
   */
  sweepBlobs: {
    request: { readonly before: number; readonly after: BlobPlace | undefined };
    reply: SweptBlobs;
  };
  putSnapshot: {
    request: SessionAddress & Omit<FoldSnapshot, 'value'> & { readonly text: string };
    reply: null;
  };
  delete: { request: SessionAddress & Timed & { readonly erase: boolean }; reply: null };
  /** Writes what needs new room, or removes it: tells whether the disk is full. */
  tryRoom: { request: { readonly step: 'write' | 'remove' }; reply: null };
  /** Removes some rows of deleted sessions; replies true when there may be more. */
  purge: { request: null; reply: boolean };
}

export interface ReadOperations {
  head: { request: SessionAddress; reply: LedgerHead | undefined };
  birth: { request: SessionAddress; reply: string | undefined };
  now: { request: Timed; reply: number };
  read: { request: ReadRequest; reply: ReadPage };
  /** The rows of a page one by one, for finding the damaged one. */
  readRows: {
    request: LedgerAddress & { readonly after: number; readonly through: number };
    reply: readonly { seq: number; text: string }[];
  };
  /** The path texts that rows refer to by `seq`. */
  readPaths: {
    request: LedgerAddress & { readonly seqs: readonly number[] };
    reply: readonly (string | undefined)[];
  };
  inbox: { request: SessionAddress; reply: readonly InboxEntry[] };
  addressKey: { request: ScopeAddress; reply: Uint8Array | undefined };
  getBlob: {
    request: ScopeAddress & { readonly address: string; readonly session: string | undefined };
    reply: Uint8Array;
  };
  readShared: {
    request: ScopeAddress & { readonly scope: string; readonly scopeId: string };
    reply: Readonly<Record<string, SharedValue>>;
  };
  list: {
    request: ScopeAddress & ListOptions & { readonly limit: number };
    reply: readonly SessionListing[];
  };
  /** Ids of the sessions in which a run began. */
  sessionsOfRun: {
    request: ScopeAddress & { readonly run: string; readonly limit: number };
    reply: readonly string[];
  };
  requests: {
    request: ScopeAddress & { readonly filter: RequestFilter; readonly limit: number };
    reply: readonly RequestRow[];
  };
  turn: { request: SessionAddress; reply: TurnRow | undefined };
  turns: {
    request: ScopeAddress & { readonly filter: TurnFilter; readonly limit: number };
    reply: readonly TurnRow[];
  };
  rows: {
    request: ScopeAddress & Timed & { readonly filter: RowFilter; readonly limit: number };
    reply: readonly StoredRow[];
  };
  /** Sends of one tenant and app, or of all tenants of an app. */
  sends: {
    request: Timed & {
      readonly scope: { readonly tenant?: string | undefined; readonly app: string };
      readonly from: string | undefined;
      readonly olderThanMs: number;
      readonly limit: number;
    };
    reply: readonly (PendingSend & { readonly tenant: string })[];
  };
  getSnapshot: {
    request: SessionAddress & { readonly key: string; readonly upTo: number };
    reply: FoldSnapshot | undefined;
  };
  /** Finds due sessions of one tenant and app, of one app, or of all. */
  due: {
    request: Timed & {
      readonly scope: { readonly [Part in keyof ScopeAddress]?: string | undefined };
      readonly limit: number;
    };
    reply: readonly DueSession[];
  };
  /** A number that changes when another process has changed the file. */
  dataVersion: { request: null; reply: number };
  close: { request: null; reply: null };
}

export type Operations = WriteOperations & ReadOperations;
export type Operation = keyof Operations;

export type Request = {
  [Name in Operation]: readonly [Name, Operations[Name]['request']];
}[Operation];
export type WriteRequest = {
  [Name in keyof WriteOperations]: readonly [Name, WriteOperations[Name]['request']];
}[keyof WriteOperations];
export type ReadRequestMessage = {
  [Name in keyof ReadOperations]: readonly [Name, ReadOperations[Name]['request']];
}[keyof ReadOperations];

/** An error on its way between threads. */
export interface WorkerFailure {
  readonly code: string;
  readonly message: string;
  readonly data: JsonObject;
}

/** Requests are answered in the order in which they were sent. */
export type Outcome = { readonly reply: unknown } | { readonly failure: WorkerFailure };
