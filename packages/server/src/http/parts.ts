import type { OpenAPIHono, z } from '@hono/zod-openapi';
import type { Runtime, SessionListing } from 'adjutant';
import type { Clock, IdSource } from 'adjutant/ports';
import type { TaskInfo } from 'adjutant/scheduler';
import type { Principal } from '../access/principal.ts';
import type { ServerAccess } from '../access/server-access.ts';
import type { ServerMetrics } from '../metrics/metrics.ts';
import type { ResolvedServerOptions } from '../options.ts';
import type { Pressure } from '../pressure/pressure.ts';
import type { OpenStreams } from '../stream/open-streams.ts';
import type { Replays } from '../stream/replay/replays.ts';
import type { KnownSessions } from '../stream/sessions/session-look.ts';
import type { KnownTasks } from '../stream/tasks/task-look.ts';
import type { Watches } from '../stream/watches/watches.ts';
import type { KeptAnswers } from './kept-answers.ts';

/** Variables that the middleware passes to the route of a request. */
export interface ServerEnv {
  readonly Variables: {
    /** Names the request in errors and logs. */
    requestId: string;
    /** Where new ids come from; `newId` uses it. */
    ids: IdSource;
    /** Seed of the ids that a request under an `Idempotency-Key` makes; `newId` uses it. */
    idempotencySeed?: string;
    /** True when the request was begun before under its key; see `isBegunBefore`. */
    isBegunBefore?: boolean;
    /**
     * Gives the answer that is kept under the request's `Idempotency-Key`, or makes and keeps it.
     * Missing: there is no key.
     */
    answerOnce?: AnswerOnce;
    /** Schema of the body, by which unknown members are told with the nearest one. */
    bodySchema?: z.ZodType;
    principal: Principal;
    /** Where the request comes from, as far as that is known. */
    address: string | undefined;
    /** The app of the caller's tenant: a request works with this one and with no other. */
    app: Runtime;
  };
}

/**
 * @param make carries the request out; its errors become problems
 * @param repeated answer to the same request when it is sent again
 */
export type AnswerOnce = (
  make: () => Promise<Response>,
  repeated: RepeatedAnswer,
) => Promise<Response>;

/**
 * Answer to a request that is sent again under the same `Idempotency-Key`. `same`: the same answer.
 * `again`: the answer of doing it again, for a request that changes nothing but whose answer is a
 * secret. `refused`: a refusal, for a request that makes a secret which is shown only once.
 */
export type RepeatedAnswer = 'same' | 'again' | 'refused';

export type Api = OpenAPIHono<ServerEnv>;

/** Parts that all routes of a server share. */
export interface ServerParts {
  /** The app that is served, of its own tenant; requests use that of their caller's. */
  readonly app: Runtime;
  readonly options: ResolvedServerOptions;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly metrics: ServerMetrics;
  readonly access: ServerAccess;
  readonly streams: OpenStreams;
  /** Answers to requests with an `Idempotency-Key`. */
  readonly kept: KeptAnswers;
  /** Tasks that streams tell of. */
  readonly taskWatches: Watches<KnownTasks, TaskInfo>;
  /** Sessions that a stream tells of. */
  readonly sessionWatches: Watches<KnownSessions, SessionListing>;
  /** Replays of recorded sessions. */
  readonly replays: Replays;
  /** The load of this process, and what it refuses because of it. */
  readonly pressure: Pressure;
  /** Aborted when the server closes: streams end, and clients come back to another process. */
  readonly closing: AbortSignal;
}

/** Adds routes to a server. */
export type AddRoutes = (api: Api, parts: ServerParts) => void;
