import type { Clock, IdSource } from 'adjutant';

/** One key of a JSON Web Key Set, or a shared secret, by which tokens are checked. */
export interface JwtOptions {
  /** Address of the JSON Web Key Set that the issuer publishes. Either this or `secret`. */
  readonly jwks?: string;
  /** Shared secret of HS256 tokens, of at least 32 bytes. Either this or `jwks`. */
  readonly secret?: string | { reveal(): string };
  /** Who must have issued the token (`iss`). @default anybody who can sign it */
  readonly issuer?: string;
  /** For whom it must have been issued (`aud`). */
  readonly audience?: string;
  /** Names of the claims that say what the bearer may do. @default { tenant: 'tenant', roles: 'roles', user: 'sub' (for tokens without a role that operates), agents: 'agents' } */
  readonly claims?: { readonly tenant?: string; readonly roles?: string; readonly user?: string; readonly agents?: string };
}

/** Who may call. Without it only this machine may, and may do everything. */
export interface AuthOptions {
  /** Whether API keys of the app's store are accepted: those that `adjutant keys` makes. @default true */
  readonly keys?: boolean;
  readonly jwt?: JwtOptions;
}

export interface ServerLimits {
  /** Bytes of a request's body. @default 1_048_576 */
  readonly bodyBytes?: number;
  /** Requests of one caller per minute; `false` for no limit. @default 600 */
  readonly requestsPerMinute?: number | false;
  /** Streams that one caller may have open at a time. @default 100 */
  readonly streams?: number;
}

export interface CorsOptions {
  /** Origins whose pages may call, such as `https://app.example.com`; `*` for all. */
  readonly origins: readonly string[];
}

export interface StreamOptions {
  /** Milliseconds without an event after which a comment is sent, so that proxies keep the connection. @default 15_000 */
  readonly heartbeat?: number;
}

/** What a server is made with. */
export interface ServerOptions {
  /** @default none: only callers of this machine are let in, and may do everything */
  readonly auth?: AuthOptions;
  readonly limits?: ServerLimits;
  /** @default none: pages of other origins cannot call */
  readonly cors?: CorsOptions;
  readonly stream?: StreamOptions;
  /** How long the answer to a write is kept under its `Idempotency-Key`, in milliseconds. @default 86_400_000 (24 hours) */
  readonly idempotency?: { readonly keepFor?: number };
  /** Where people reach the server, for the links in messages: `https://agents.example.com`. @default the address of the request */
  readonly publicUrl?: string;
  /** Told what went wrong inside (a 5xx), with the request's id; never secrets or bodies. @default a warning of the process */
  readonly onError?: (error: unknown, request: { readonly id: string; readonly method: string; readonly path: string }) => void;
  /** For tests: where time and ids come from. */
  readonly ports?: { readonly clock?: Clock; readonly ids?: IdSource };
}

/** Options with their defaults. */
export interface ResolvedServerOptions {
  readonly auth: AuthOptions | undefined;
  readonly limits: { readonly bodyBytes: number; readonly requestsPerMinute: number | false; readonly streams: number };
  readonly cors: CorsOptions | undefined;
  readonly stream: { readonly heartbeat: number };
  readonly idempotency: { readonly keepFor: number };
  readonly publicUrl: string | undefined;
  readonly onError: ServerOptions['onError'];
}

const defaultBodyBytes = 1_048_576;
const defaultRequestsPerMinute = 600;
const defaultStreams = 100;
const defaultHeartbeatMs = 15_000;
const defaultKeepMs = 86_400_000;

export function resolveOptions(options: ServerOptions): ResolvedServerOptions {
  const { auth, limits = {}, cors, stream = {}, idempotency = {}, publicUrl, onError } = options;
  return {
    auth,
    limits: {
      bodyBytes: limits.bodyBytes ?? defaultBodyBytes,
      requestsPerMinute: limits.requestsPerMinute ?? defaultRequestsPerMinute,
      streams: limits.streams ?? defaultStreams,
    },
    cors,
    stream: { heartbeat: stream.heartbeat ?? defaultHeartbeatMs },
    idempotency: { keepFor: idempotency.keepFor ?? defaultKeepMs },
    publicUrl,
    onError,
  };
}
