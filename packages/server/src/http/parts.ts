import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Clock, IdSource, Runtime } from 'adjutant';
import type { Principal } from '../access/principal.ts';
import type { ResolvedServerOptions } from '../options.ts';

/** What a request carries from the middleware to its route. */
export interface ServerEnv {
  readonly Variables: {
    /** Names the request in errors and logs. */
    requestId: string;
    principal: Principal;
    /** The app of the caller's tenant: a request works with this one and with no other. */
    app: Runtime;
  };
}

export type Api = OpenAPIHono<ServerEnv>;

/** What all routes of a server share. */
export interface ServerParts {
  /** The app that is served, of its own tenant; requests use that of their caller's. */
  readonly app: Runtime;
  readonly options: ResolvedServerOptions;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Aborted when the server closes: streams end, and clients come back to another process. */
  readonly closing: AbortSignal;
}

/** Adds routes to a server. */
export type AddRoutes = (api: Api, parts: ServerParts) => void;
