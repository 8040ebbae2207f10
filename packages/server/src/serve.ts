import type { createServer, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type WebSocketServerLike } from '@hono/node-server';
import { AdjutantError, type Runtime } from 'adjutant';
import { systemClock, systemIds } from 'adjutant/ports';
import { WebSocketServer } from 'ws';
import { chosenProtocol } from './access/credential.ts';
import { assertMayListen } from './access/local-access.ts';
import { endBySignals } from './end-by-signals.ts';
import { type LinkOptions, linkOf, pageAddress } from './http/approval-links.ts';
import { refuseBrokenUpgrades, serverOfWholeTargets } from './http/broken-target.ts';
import { asThePlatformHasIt } from './http/platform-request.ts';
import { problemResponse, RequestRefusedError } from './http/problem.ts';
import { Answering, Listening } from './listening.ts';
import { checkServerOptions } from './option-checks.ts';
import { resolveOptions } from './options.ts';
import {
  checkServeOptions,
  type ServeOptions,
  serveOptionNames,
  withoutServeOptions,
} from './serve-options.ts';
import { type AdjutantServer, server } from './server.ts';

/** A server that listens. */
export interface ListeningServer {
  /** Where callers on this machine reach it. */
  readonly url: string;
  readonly port: number;
  readonly hostname: string;
  /** Address of the dashboard; missing when there is none. */
  readonly page?: string;
  /**
   * Makes a link to the page by which somebody decides a request; as `server(…).link`. Without
   * `publicUrl` it leads to `url`.
   */
  link(requestId: string, options?: LinkOptions): Promise<string>;
  /**
   * Takes no more requests, ends all streams, lets requests under way come to their end within the
   * grace and then cuts them off. Runs are not touched: they go on in the app, or in another
   * process when this one ends. Closing again does nothing more.
   * @param options.closeApp also closes the app, so that every run is released @default false
   */
  close(options?: { readonly closeApp?: boolean }): Promise<void>;
}

/** The server cannot listen where it is to. */
export class CannotListenError extends AdjutantError<string> {
  constructor(data: { hostname: string; port: number; reason: string }, options?: ErrorOptions) {
    super(
      'cannot_listen',
      `The server cannot listen on ${data.hostname}, port ${data.port}: ${data.reason}.`,
      data,
      options,
    );
  }
}

const defaultPort = 8787;

const defaultHostname = '127.0.0.1';

const defaultGraceMs = 10_000;

/**
 * Time in milliseconds after which an idle connection is closed. It is longer than the minute after
 * which load balancers close one. If the server closed first, it could do so in the middle of a
 * request.
 */
const keepAliveMs = 65_000;

const defaultRequestMs = 60_000;

/**
 * Number of Node's checks for late requests within the timeout. With Node's own 30 seconds a
 * timeout of one minute would become one and a half.
 */
const looksPerTimeout = 10;

/**
 * Serves an app over HTTP on Node.
 * @throws InvalidServerError, CannotListenError
 * @example
 * ```ts
 * import { serve } from '@adjutant/server';
 * import { agent, rehearsal, runtime } from 'adjutant';
 *
 * const clerk = agent({ name: 'clerk', model: rehearsal() });
 * const app = runtime({ app: 'shop', runnables: [clerk] });
 * const server = await serve(app, { port: 0 });
 * console.log(server.url);
 * await server.close();
 * ```
 */
export async function serve(app: Runtime, options: ServeOptions = {}): Promise<ListeningServer> {
  const serverOptions = withoutServeOptions(options);
  checkServerOptions(app, serverOptions, Object.keys(serveOptionNames));
  const {
    port = defaultPort,
    hostname = defaultHostname,
    requestTimeoutMs = defaultRequestMs,
    shutdown = {},
    processGuard = 'continue',
  } = options;
  checkServeOptions({ port, hostname, requestTimeoutMs, shutdown, processGuard });
  assertMayListen(serverOptions, hostname);
  const handler = server(app, serverOptions);
  const { limits, onError, dashboard, publicUrl } = resolveOptions(serverOptions);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.bodyBytes,
    handleProtocols: chosenProtocol,
  });
  const answering = new Answering();
  const node = nodeServer({ handler, answering, sockets, requestTimeoutMs });
  const clock = options.ports?.clock ?? systemClock;
  const listening = new Listening({
    app,
    handler,
    answering,
    node,
    sockets,
    clock,
    graceMs: shutdown.graceMs ?? defaultGraceMs,
  });
  await listen(node, port, hostname);
  const { port: actual } = node.address() as AddressInfo;
  if (processGuard !== false)
    listening.guard({
      report: onError,
      ...(processGuard === 'close' ? { close: () => listening.close(true) } : {}),
    });
  if (shutdown.signals === true) endBySignals(listening);
  const url = urlOf(hostname, actual);
  const approvals = pageAddress(publicUrl ?? url);
  app.requests.serveLinksAt(approvals);
  return {
    url,
    port: actual,
    hostname,
    ...(dashboard === undefined ? {} : { page: `${(publicUrl ?? url).replace(/\/$/, '')}/` }),
    link: (requestId, link = {}) => linkOf(app, approvals, requestId, link),
    close: (how = {}) => listening.close(how.closeApp === true),
  };
}

/** Returns the server of Node that passes requests to the handler. It does not listen yet. */
function nodeServer({ handler, answering, sockets, requestTimeoutMs }: NodeServerParts): Server {
  const node = createAdaptorServer({
    fetch: (request, env) =>
      forbiddenMethods.has(request.method)
        ? noSuchMethod(request)
        : answering.add(handler.fetch(asThePlatformHasIt(request), env)),
    // Their types differ only in what may be `undefined`.
    websocket: { server: sockets as WebSocketServerLike },
    // The host process keeps the classes of the platform.
    overrideGlobalObjects: false,
    serverOptions: {
      keepAliveTimeout: keepAliveMs,
      ...timeoutsOf(requestTimeoutMs),
      // A request for another protocol is answered over HTTP. Else it would get no answer, and its
      // connection would not be watched.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    // The adapter calls it in this way alone.
    createServer: serverOfWholeTargets as typeof createServer,
  }) as Server;
  refuseBrokenUpgrades(node);
  return node;
}

interface NodeServerParts {
  readonly handler: AdjutantServer;
  readonly answering: Answering;
  readonly sockets: WebSocketServer;
  readonly requestTimeoutMs: number;
}

/**
 * Returns the timeouts of Node that cut a request at the latest after this time. A late request is
 * cut at the next check.
 */
function timeoutsOf(ms: number): {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly connectionsCheckingInterval: number;
} {
  const interval = Math.floor(ms / looksPerTimeout);
  return {
    headersTimeout: ms - interval,
    requestTimeout: ms - interval,
    connectionsCheckingInterval: interval,
  };
}

/** Methods that the platform's `Request` refuses. */
const forbiddenMethods: ReadonlySet<string> = new Set(['TRACE', 'TRACK']);

function noSuchMethod({ method }: Request): Response {
  const refusal = new RequestRefusedError(
    405,
    'method_not_allowed',
    `Nothing here takes ${method}.`,
    {},
    { allow: 'GET, POST, DELETE' },
  );
  return problemResponse(refusal, `req_${systemIds.next()}`);
}

const listenFailures: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it, or choose another port',
  EACCES: 'this user may not; choose a port from 1024 on',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
};

/** @throws CannotListenError */
function listen(node: Server, port: number, hostname: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException): void => {
      const reason = listenFailures[cause.code ?? ''] ?? cause.message;
      reject(new CannotListenError({ hostname, port, reason }, { cause }));
    };
    node.once('error', fail);
    node.listen(port, hostname, () => {
      node.off('error', fail);
      resolve();
    });
  });
}

function urlOf(hostname: string, port: number): string {
  const isEverywhere = hostname === '0.0.0.0' || hostname === '::';
  const host = isEverywhere ? 'localhost' : hostname.includes(':') ? `[${hostname}]` : hostname;
  return `http://${host}:${port}`;
}
