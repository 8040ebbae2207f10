import type { Clock } from '../../base/clock.ts';
import type { Host } from '../../base/host.ts';
import type { IdSource } from '../../base/id.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Event } from '../../ledger/event.ts';
import type { InboxEntry, LedgerStore, ListedRow } from '../../ledger/port.ts';
import type { Registry } from '../frame/registry.ts';
import type { WorkDefaults } from '../tasks/profile.ts';
import type { ServiceSession } from './service-session.ts';

/**
 * A service: code that carries on sessions of its own, such as those of triggers. Such a session
 * has no runs. Its inbox and its clock move it, and each step of it is one append.
 */
export interface Service {
  /** Kind of its sessions, such as `trigger`. */
  readonly kind: string;
  /** Names of the turns that this process can work on. */
  readonly names: () => readonly string[];
  /**
   * Does everything that is to be done now.
   * @returns the instant at which the session is to be woken; `null` for never
   */
  readonly advance: (session: ServiceSession) => Promise<number | null>;
  /**
   * The folded state, from which a new session goes on when this one has become long.
   * `undefined` while it must not be left.
   */
  readonly rolled: (session: ServiceSession) => JsonObject | undefined;
  /** Kinds of the rows that follow from its ledgers. */
  readonly rowKinds: readonly string[];
  /** Folds a session that nobody holds; `undefined` when nothing says whose it is. */
  readonly fold: (session: UnheldSession) => FoldedService | undefined;
}

/** The ledger and the inbox of a session of a service, which is read and not written. */
export interface UnheldSession {
  readonly id: string;
  readonly tenant: string;
  /** Events with large values in them. */
  readonly events: readonly Event[];
  /** Items that nobody has answered, in the order of posting. */
  readonly inbox: readonly InboxEntry[];
}

/** Facts of a service that follow from the ledger and the inbox of one of its sessions. */
export interface FoldedService {
  /** Name of the service. */
  readonly name: string;
  /** Name of its turn. */
  readonly runnable: string;
  /** Rows by which it is found, as its newest session has them. */
  readonly rows: readonly ListedRow[];
  /**
   * Instant at which it is to be woken without an item; `null` for never. Missing: it is to be
   * woken, and when is up to settings that no ledger has.
   */
  readonly wakeAt?: number | null;
}

/** State that a session has taken over from the one before. */
export interface BegunState {
  readonly name: string;
  readonly state: JsonObject;
  /** Session that had it before. */
  readonly from: string;
}

/** News of a request that waits for a person. */
export interface RequestNews {
  readonly tenant: string;
  readonly session: string;
  readonly requestId: string;
  /** One line about the action in question. */
  readonly message: string;
  /** The session's `user` scope, if it has one. */
  readonly user?: string | undefined;
  readonly expiresAt?: number | undefined;
}

/** The app, as its services use it. */
export interface ServiceHost {
  readonly app: string;
  /** Tenant of the app itself, to which what code declares belongs. */
  readonly home: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly host: Host;
  readonly registry: Registry;
  readonly work: WorkDefaults;
  /** Ledgers of a tenant, whose receipts set the clock. */
  readonly ledgers: (tenant: string) => LedgerStore;
  /** Posts an item to a service, which is made if it is not there. */
  readonly post: (tenant: string, post: ServicePost) => Promise<{ readonly duplicate: boolean }>;
  /** Names of the channels of the app; `undefined` when it can send no notices. */
  readonly channels: () => readonly string[] | undefined;
  /** The newest session of a service; `undefined` when it has none. */
  readonly newest: (tenant: string, kind: string, name: string) => Promise<string | undefined>;
  /** Link to the page of a request; `undefined` when the app has no address for it. */
  readonly requestLink: (tenant: string, requestId: string) => Promise<string | undefined>;
  /** Works on the sessions whose turns have a name until none of them is due. */
  readonly advance: (tenant: string, runnable: string) => Promise<void>;
  /** Resolves when other work here on such sessions has ended; false when there was none. */
  readonly awaited: (tenant: string, runnable: string) => Promise<boolean>;
}

/** An item for a service. */
export interface ServicePost {
  readonly kind: string;
  readonly name: string;
  /** Name of the turn. @default the kind */
  readonly runnable?: string;
  readonly key: string;
  readonly by?: string;
  readonly data: JsonObject;
  readonly rows?: readonly ListedRow[];
}

/** A part of an app that another entry of the package makes: triggers, notifications. */
export interface ServicePart<Api = unknown> {
  readonly kind: string;
  attach(host: ServiceHost): AttachedService<Api>;
}

/** A part that has been attached to an app. */
export interface AttachedService<Api = unknown> {
  readonly service: Service;
  /** The part as the callers of one tenant see it. */
  readonly of: (tenant: string) => Api;
  /** Names of the channels by which it reaches people. */
  readonly channels?: readonly string[];
  /** Called when all parts are there. @throws an error for what does not fit them */
  readonly check?: () => void;
  /** Called for each request that waits for a person, at least once. */
  readonly onRequest?: (news: RequestNews) => Promise<void>;
  /** Called once before the first look of a tenant for work. */
  readonly begin?: (tenant: string) => Promise<void>;
}
