import type { EvalReportsOptions } from 'adjutant/eval';
import type { NoticeHub } from 'adjutant/notifications';
import type { Clock, IdSource } from 'adjutant/ports';
import type { Role } from './access/principal.ts';
import { ownDashboard } from './dashboard/folder.ts';
import { type FailedRequest, failureReport, type ReportFailure } from './http/failure-report.ts';

/** One key of a JSON Web Key Set, or a shared secret, by which tokens are checked. */
export interface JwtOptions {
  /** Address of the JSON Web Key Set that the issuer publishes. Either this or `secret`. */
  readonly jwks?: string;
  /** Shared secret of HS256 tokens, of at least 32 bytes. Either this or `jwks`. */
  readonly secret?: string | { reveal(): string };
  /** Required issuer of the token (`iss`). @default any issuer that can sign it */
  readonly issuer?: string;
  /**
   * For whom it must have been issued (`aud`). Needed with `jwks`: issuers sign tokens for other
   * services with the same keys.
   */
  readonly audience?: string;
  readonly claims?: ClaimNames;
}

/** Names of the claims that say what the bearer may do. Every token also needs `sub` and `exp`. */
export interface ClaimNames {
  /**
   * Claim with the tenant whose sessions are in reach; a token without it is refused. `false`:
   * tokens name no tenant, and all belong to the app's own.
   * @default 'tenant'
   */
  readonly tenant?: string | false;
  /**
   * The roles, as a list; unknown ones are passed over. A token without one of them may do
   * nothing. @default 'roles'
   */
  readonly roles?: string;
  /**
   * The user that the bearer is bound to. If it is named here, a token without it is refused:
   * `user: 'sub'` binds every bearer to itself. @default 'user', where a token has it
   */
  readonly user?: string;
  /**
   * The agents that the bearer is bound to, as a list. If it is named here, a token without it is
   * refused. @default 'agents', where a token has it
   */
  readonly agents?: string;
}

/** Accepted credentials: nobody may call without one. */
export interface AuthOptions {
  /**
   * True when API keys of the app's store are accepted: those that `adjutant keys` makes.
   * @default true
   */
  readonly keys?: boolean;
  readonly jwt?: JwtOptions;
  /**
   * Roles whose callers may give a new session `permissions`, by which its runs do what
   * `requiresPermission` of tools keeps from others. An empty list: only the app itself does.
   * Callers that are bound to a user never may. @default ['admin']
   */
  readonly grantPermissions?: readonly GrantingRole[];
  /**
   * Milliseconds for which a sign-in of the dashboard is accepted at most; it ends before with the
   * key or token that it was made with. @default 604_800_000 (7 days)
   */
  readonly signInForMs?: number;
}

/** A role that can be let give permissions. */
export type GrantingRole = Extract<Role, 'operator' | 'admin'>;

export interface ServerLimits {
  /** Bytes of a request's body. @default 1_048_576 */
  readonly bodyBytes?: number;
  /**
   * Requests of one caller per minute, in each process; `false` for no limit. @default 600; no
   * limit without `auth`
   */
  readonly requestsPerMinute?: number | false;
  /**
   * Requests without a valid credential from one address per minute that are told so; more are
   * refused as too many. @default 30
   */
  readonly failuresPerMinute?: number;
  /** Streams that one caller may have open at a time. @default 100 */
  readonly streams?: number;
  /** Streams of all callers together, in each process. @default 5_000 */
  readonly streamsInAll?: number;
  /**
   * Requests of all callers that are under way at a time, in each process; one more is refused with
   * 503 `overloaded`. Streams do not count. @default 1_000
   */
  readonly requests?: number;
  /**
   * Operations of the store that may wait for it, those of runs included, before requests are
   * refused with 503 `overloaded`. @default 5_000
   */
  readonly storeQueue?: number;
  /**
   * Share of the memory that the process may have (`--max-old-space-size`) from which on requests
   * are refused with 503 `overloaded`, above 0 and up to 1. @default 0.9
   */
  readonly memory?: number;
  /**
   * Pieces of what is past that are read and written out for one caller at a time: for streams that
   * begin in the past, and for whatever else is folded from a whole ledger. Others of the caller
   * wait in the order in which they came. @default 4
   */
  readonly replays?: number;
}

export interface CorsOptions {
  /** Origins whose pages may call, such as `https://app.example.com`; `*` for all. */
  readonly origins: readonly string[];
}

/** The page by which people look at sessions and work with them. */
export interface DashboardOptions {
  /** Folder of its files: `index.html` and `assets`. While it has none, a page says so. */
  readonly folder: string;
}

export interface StreamOptions {
  /**
   * Milliseconds without an event after which a comment is sent, so that proxies keep the
   * connection. @default 15_000
   */
  readonly heartbeatMs?: number;
}

/** Options of a server. */
export interface ServerOptions {
  /** @default none: only callers of this machine are let in, and may do everything */
  readonly auth?: AuthOptions;
  /**
   * Number of the operator's own proxies in front of the server, whose `X-Forwarded-…` headers are
   * believed.
   * @default 0
   */
  readonly trustProxy?: number;
  readonly limits?: ServerLimits;
  /** @default none: pages of other origins cannot call */
  readonly cors?: CorsOptions;
  readonly stream?: StreamOptions;
  /**
   * The dashboard, at `/`; `false` for none. It holds no data: what it shows it asks for as its
   * visitor. @default the one of this package, where that has been built
   */
  readonly dashboard?: false | DashboardOptions;
  /**
   * Folder of the reports of evals that `GET /v1/evals` and the dashboard show, for callers who may
   * see all of the app: where `adjutant eval` or `evalReports` keeps them.
   * @default none; with `adjutant serve` that of `adjutant eval`
   */
  readonly evals?: EvalReportsOptions;
  /**
   * Time for which the answer to a write is kept under its `Idempotency-Key`, in milliseconds.
   * @default 86_400_000 (24 hours)
   */
  readonly idempotency?: { readonly keepForMs?: number };
  /**
   * Address of the server for people, in links of messages and the addresses of the dashboard:
   * `https://agents.example.com`, with a path if it lies below one.
   * @default the address of the request
   */
  readonly publicUrl?: string;
  /**
   * Open pages of people, whose notices `GET /v1/notices/stream` shows: made by `noticeHub()`, and
   * given to a `streamChannel` of the app too.
   * @default none: pages are shown no notices
   */
  readonly notices?: NoticeHub;
  /**
   * Told what went wrong inside: with the request that was answered with a 5xx, or without one,
   * when it was not in a request, such as an audit log that cannot be written. Never secrets or
   * bodies. @default a warning of the process
   */
  readonly onError?: (error: unknown, request?: FailedRequest) => void;
  /** For tests: where time and ids come from. */
  readonly ports?: { readonly clock?: Clock; readonly ids?: IdSource };
}

/** Options with their defaults. */
export interface ResolvedServerOptions {
  readonly auth: AuthOptions | undefined;
  readonly grantPermissions: readonly GrantingRole[];
  readonly signInForMs: number;
  readonly trustProxy: number;
  readonly limits: {
    readonly bodyBytes: number;
    readonly requestsPerMinute: number | false;
    readonly failuresPerMinute: number;
    readonly streams: number;
    readonly streamsInAll: number;
    readonly requests: number;
    readonly storeQueue: number;
    readonly memory: number;
    readonly replays: number;
  };
  readonly cors: CorsOptions | undefined;
  readonly stream: { readonly heartbeatMs: number };
  readonly dashboard: DashboardOptions | undefined;
  readonly evals: EvalReportsOptions | undefined;
  readonly idempotency: { readonly keepForMs: number };
  readonly publicUrl: string | undefined;
  readonly notices: NoticeHub | undefined;
  /** Never throws, whatever the app's own does. */
  readonly onError: ReportFailure;
}

const defaultBodyBytes = 1_048_576;
const defaultRequestsPerMinute = 600;
const defaultFailuresPerMinute = 30;
const defaultStreams = 100;
const defaultStreamsInAll = 5_000;
const defaultRequests = 1_000;
const defaultStoreQueue = 5_000;
const defaultMemory = 0.9;
const defaultReplays = 4;
const defaultHeartbeatMs = 15_000;
const defaultKeepMs = 86_400_000;
const defaultSignInMs = 604_800_000;

export function resolveOptions(options: ServerOptions): ResolvedServerOptions {
  const {
    auth,
    trustProxy = 0,
    limits = {},
    cors,
    stream = {},
    dashboard = ownDashboard(),
    evals,
    idempotency = {},
    publicUrl,
    notices,
    onError,
  } = options;
  return {
    auth,
    grantPermissions: auth?.grantPermissions ?? ['admin'],
    signInForMs: auth?.signInForMs ?? defaultSignInMs,
    trustProxy,
    limits: {
      bodyBytes: limits.bodyBytes ?? defaultBodyBytes,
      // Callers on this machine need no limit that protects other callers.
      requestsPerMinute:
        limits.requestsPerMinute ?? (auth === undefined ? false : defaultRequestsPerMinute),
      failuresPerMinute: limits.failuresPerMinute ?? defaultFailuresPerMinute,
      streams: limits.streams ?? defaultStreams,
      streamsInAll: limits.streamsInAll ?? defaultStreamsInAll,
      requests: limits.requests ?? defaultRequests,
      storeQueue: limits.storeQueue ?? defaultStoreQueue,
      memory: limits.memory ?? defaultMemory,
      replays: limits.replays ?? defaultReplays,
    },
    cors,
    stream: { heartbeatMs: stream.heartbeatMs ?? defaultHeartbeatMs },
    dashboard: dashboard === false ? undefined : dashboard,
    evals,
    idempotency: { keepForMs: idempotency.keepForMs ?? defaultKeepMs },
    publicUrl,
    notices,
    onError: failureReport(onError),
  };
}
