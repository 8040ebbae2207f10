import type { JsonObject } from '../../base/json.ts';
import type {
  AppendReceipt,
  Claim,
  ClaimOptions,
  Head,
  InboxEntry,
  InboxItem,
  PostReceipt,
  ReleaseOptions,
  ReleaseReceipt,
  SessionListing,
  SessionSummary,
  SharedValue,
  SharedWrite,
} from '../../ledger/port.ts';
import type { EventFields } from './codec.ts';

/** What the worker thread is started with. */
export interface WorkerSettings {
  readonly path: string;
  readonly synchronous: 'full' | 'normal';
  readonly busyTimeoutMs: number;
}

export interface ScopeAddress {
  readonly tenant: string;
  readonly app: string;
}

export interface SessionAddress extends ScopeAddress {
  readonly session: string;
}

/** The store's clock belongs to the main thread, so requests that need the time carry it. */
interface Timed {
  readonly now: number;
}

export interface AppendRequest extends SessionAddress, Timed {
  readonly expected: Head;
  readonly fields: EventFields;
  readonly consumes?: readonly number[] | undefined;
  readonly blobs?: readonly string[] | undefined;
  readonly shared?: readonly SharedWrite[] | undefined;
  readonly summary?: SessionSummary | undefined;
  readonly wakeAt?: number | null | undefined;
}

export interface ReadRequest extends SessionAddress {
  readonly after: number;
  readonly upTo: number | undefined;
}

/** A stretch of one ledger as the JSON text of an array of rows. */
export interface ReadPage {
  readonly text: string;
  /** Events with `after < seq <= through` are in the text. */
  readonly after: number;
  readonly through: number;
  readonly more: boolean;
}

/** Requests that change the file; those that wait together share a transaction. */
export interface WriteOperations {
  append: { request: AppendRequest; reply: AppendReceipt };
  claim: { request: SessionAddress & Timed & ClaimOptions & { readonly owner: string }; reply: Claim };
  renew: { request: ScopeAddress & Timed & { readonly claim: Claim }; reply: AppendReceipt };
  release: { request: ScopeAddress & ReleaseOptions & { readonly claim: Claim }; reply: ReleaseReceipt };
  post: { request: SessionAddress & { readonly item: InboxItem }; reply: PostReceipt };
  fork: { request: SessionAddress & Timed & { readonly atSeq: number; readonly newSession: string }; reply: null };
  putBlob: { request: ScopeAddress & Timed & { readonly address: string; readonly bytes: Uint8Array }; reply: null };
}

export interface ReadOperations {
  head: { request: SessionAddress; reply: AppendReceipt | undefined };
  read: { request: ReadRequest; reply: ReadPage };
  /** The rows of a page one by one, for finding the damaged one. */
  readRows: { request: SessionAddress & { readonly after: number; readonly through: number }; reply: readonly { seq: number; text: string }[] };
  /** The path texts that rows refer to by `seq`. */
  readPaths: { request: SessionAddress & { readonly seqs: readonly number[] }; reply: readonly (string | undefined)[] };
  inbox: { request: SessionAddress; reply: readonly InboxEntry[] };
  getBlob: { request: ScopeAddress & { readonly address: string }; reply: Uint8Array };
  readShared: { request: ScopeAddress & { readonly scope: string; readonly scopeId: string }; reply: Readonly<Record<string, SharedValue>> };
  list: {
    request: ScopeAddress & { readonly limit: number; readonly before: Pick<SessionListing, 'updatedAt' | 'id'> | undefined };
    reply: readonly SessionListing[];
  };
  /** A number that changes when another process has changed the file. */
  dataVersion: { request: null; reply: number };
  close: { request: null; reply: null };
}

export type Operations = WriteOperations & ReadOperations;
export type Operation = keyof Operations;

export type Request = { [Name in Operation]: readonly [Name, Operations[Name]['request']] }[Operation];
export type WriteRequest = { [Name in keyof WriteOperations]: readonly [Name, WriteOperations[Name]['request']] }[keyof WriteOperations];
export type ReadRequestMessage = { [Name in keyof ReadOperations]: readonly [Name, ReadOperations[Name]['request']] }[keyof ReadOperations];

/** An error on its way between threads. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly data: JsonObject;
}

/** Requests are answered in the order in which they were sent. */
export type Outcome = { readonly reply: unknown } | { readonly failure: Failure };
