import { OpenAPIHono } from '@hono/zod-openapi';
import type { Runtime } from 'adjutant';
import { systemClock, systemIds } from 'adjutant/ports';
import { addAccess } from './access/access.ts';
import { secureAnswers } from './access/headers.ts';
import { ServerAccess } from './access/server-access.ts';
import { addDashboard } from './dashboard/dashboard.ts';
import {
  isApprovalPage,
  type LinkOptions,
  linkOf,
  pageAddress,
  pathForLogs,
} from './http/approval-links.ts';
import { Idempotency } from './http/idempotency.ts';
import { KeptAnswers } from './http/kept-answers.ts';
import { nothingAt } from './http/nothing-at.ts';
import { openApiDocument } from './http/open-api.ts';
import type { Api, ServerEnv, ServerParts } from './http/parts.ts';
import { asRefused, problemResponse, RequestRefusedError, statusOf } from './http/problem.ts';
import { refuseInvalid } from './http/validation.ts';
import { measure } from './metrics/measure.ts';
import { ServerMetrics } from './metrics/metrics.ts';
import { waitingCounter } from './metrics/waiting.ts';
import { checkServerOptions } from './option-checks.ts';
import { resolveOptions, type ServerOptions } from './options.ts';
import { failedPage } from './pages/approval-page.ts';
import { Pressure } from './pressure/pressure.ts';
import { addAllRoutes } from './routes/index.ts';
import { OpenStreams } from './stream/open-streams.ts';
import { Replays } from './stream/replay/replays.ts';
import { sessionLook, sessionSettleMs } from './stream/sessions/session-look.ts';
import { taskLook, taskSettleMs } from './stream/tasks/task-look.ts';
import { Watches } from './stream/watches/watches.ts';

/** An app over HTTP. */
export interface AdjutantServer {
  /** Answers one request: for Node, workers and serverless functions. */
  fetch(request: Request, env?: object): Promise<Response>;
  /** The OpenAPI 3.1 document of all routes. */
  openApi(): object;
  /**
   * Makes a link to the page by which somebody decides a request, who needs no account. It leads to
   * `publicUrl`, or else to `approvals.url` of the app.
   * @throws InvalidAnswerError, RequestNotFoundError, RequestSettledError, DecisionNotOfferedError,
   * MayNotDecideError; InvalidRuntimeError when the app has no keys, or no address is known
   */
  link(requestId: string, options?: LinkOptions): Promise<string>;
  /** Ends all streams and takes no more requests. The app stays open. */
  close(): Promise<void>;
}

/**
 * Makes a handler of HTTP requests for an app. Runs that it starts are background jobs: they go on
 * when nobody listens, and in another process when this one is gone.
 * @throws InvalidServerError
 */
export function server(app: Runtime, options: ServerOptions = {}): AdjutantServer {
  checkServerOptions(app, options);
  // Runs that were accepted over HTTP are to be continued, also in an app that keeps everything in
  // memory.
  // An engine that cannot be started has said so, and health tells it.
  app.recovery.start().catch(() => undefined);
  const closing = new AbortController();
  const clock = options.ports?.clock ?? systemClock;
  const resolved = resolveOptions(options);
  const metrics = new ServerMetrics(waitingCounter(app, clock), app);
  const ids = options.ports?.ids ?? systemIds;
  const onError = (error: unknown): void => resolved.onError(error);
  const parts: ServerParts = {
    app,
    options: resolved,
    clock,
    metrics,
    streams: new OpenStreams(resolved.limits, metrics),
    replays: new Replays(resolved.limits.replays),
    taskWatches: new Watches(app, taskLook, { clock, onError, settleMs: taskSettleMs }),
    sessionWatches: new Watches(app, sessionLook, { clock, onError, settleMs: sessionSettleMs }),
    kept: new KeptAnswers({
      store: app.store,
      app: app.app,
      clock,
      ids,
      keepForMs: resolved.idempotency.keepForMs,
    }),
    ids,
    access: new ServerAccess(app, {
      clock,
      ids,
      options: resolved,
      onError,
      closing: closing.signal,
    }),
    pressure: new Pressure(app, { clock, limits: resolved.limits }),
    closing: closing.signal,
  };
  const idempotency = new Idempotency(parts, resolved.onError);
  const { publicUrl } = resolved;
  const page = publicUrl === undefined ? undefined : pageAddress(publicUrl);
  if (page !== undefined) app.requests.serveLinksAt(page);
  const api = apiOf(parts, idempotency);
  return {
    fetch: async (request, env) => api.fetch(request, env),
    openApi: () => openApiDocument(api),
    link: (requestId, link = {}) => linkOf(app, page, requestId, link),
    close: async () => {
      closing.abort();
      metrics.close();
      await idempotency.settled();
      await parts.access.audit.close();
    },
  };
}

function apiOf(parts: ServerParts, idempotency: Idempotency): Api {
  const api = new OpenAPIHono<ServerEnv>({ defaultHook: refuseInvalid });
  api.use('*', async (context, next) => {
    context.set('requestId', `req_${parts.ids.next()}`);
    context.set('ids', parts.ids);
    await next();
    context.header('x-request-id', context.var.requestId);
  });
  api.use('*', measure(parts));
  api.use('*', secureAnswers(parts.options));
  addDashboard(api, parts);
  addAccess(api, parts);
  api.use('/v1/*', idempotency.middleware);
  addAllRoutes(api, parts);
  api.notFound((context) => problemResponse(nothingAt(api, context.req), context.var.requestId));
  api.onError((thrown, context) => {
    const { requestId } = context.var;
    const error = asRefused(thrown);
    if (isFailure(error, context.req.raw))
      parts.options.onError(error, {
        id: requestId,
        method: context.req.method,
        path: pathForLogs(context.req),
      });
    if (isApprovalPage(context.req.path))
      return failedPage(statusOf(error), error instanceof RequestRefusedError ? error.headers : {});
    return problemResponse(error, requestId);
  });
  return api;
}

/**
 * True for a failure that an operator should see: neither refusals, such as 501, nor bodies that
 * their callers did not send to the end.
 */
function isFailure(error: unknown, { signal }: Request): boolean {
  return statusOf(error) >= 500 && !(error instanceof RequestRefusedError) && !signal.aborted;
}
