import type { createServer, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer, type WebSocketServerLike } from '@hono/node-server';
import { AdjutantError, type Runtime } from 'adjutant';
import { type Clock, systemClock, systemIds } from 'adjutant/ports';
import { visibleLine } from 'adjutant/text';
import { type WebSocket, WebSocketServer } from 'ws';
import { chosenProtocol } from './access/credential.ts';
import { assertMayListen } from './access/local-access.ts';
import { refuseBrokenUpgrades, serverOfWholeTargets } from './http/broken-target.ts';
import { problemResponse, RequestRefusedError } from './http/problem.ts';
import { checkServerOptions, InvalidServerError } from './option-checks.ts';
import { resolveOptions, type ServerOptions } from './options.ts';
import { type Guarded, guardProcess } from './process-guard.ts';
import { type AdjutantServer, server } from './server.ts';

export type ProcessGuardMode = 'continue' | 'close' | false;

/** How a server ends. */
export interface ShutdownOptions {
  /** Milliseconds that requests under way have to come to their end. @default 10_000 */
  readonly grace?: number;
  /**
   * Whether SIGTERM and SIGINT end the server: no new requests, then the app is closed, so that
   * other processes go on with its runs, and then the process ends by the signal. A second signal
   * ends it at once. @default false
   */
  readonly signals?: boolean;
}

export interface ServeOptions extends ServerOptions {
  /** `0` for one that is free. @default 8787 */
  readonly port?: number;
  /** Address to listen on. Others than this machine's own need `auth`. @default '127.0.0.1' */
  readonly hostname?: string;
  /**
   * Milliseconds within which a request must have come in, head and body; one that has not is
   * answered with 408 and its connection cut. Answers may take as long as they want. @default
   * 60_000
   */
  readonly requestTimeout?: number;
  readonly shutdown?: ShutdownOptions;
  /**
   * What becomes of the process when something fails that nobody handles, in whatever code of it,
   * while the server listens. `'continue'`: `onError` is told (`unhandled_rejection`,
   * `uncaught_exception`), and it goes on. `'close'`: it goes on after rejected promises; after an
   * uncaught exception the server and the app are closed, and the process ends with the code 1.
   * `false`: what Node does, which ends it. @default 'continue'
   */
  readonly processGuard?: ProcessGuardMode;
}

/** A server that listens. */
export interface ListeningServer {
  /** Where callers on this machine reach it. */
  readonly url: string;
  readonly port: number;
  readonly hostname: string;
  /**
   * Takes no more requests, ends all streams, lets requests under way come to their end within the
   * grace and then cuts them off. Runs are not touched: they go on in the app, or in another
   * process when this one ends. Closing again does nothing more.
   * @param options.closeApp also closes the app, so that every run is given back @default false
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
const highestPort = 65_535;

/**
 * Longer than the minute after which load balancers give up a connection: whoever gives it up must
 * not be us, in the middle of a request of theirs.
 */
const keepAliveMs = 65_000;
const defaultRequestMs = 60_000;
const shortestRequestMs = 10;
/**
 * How often Node looks for requests that are late, in parts of the time that they have: with its
 * own 30 seconds a minute would be one and a half.
 */
const looksPerTimeout = 10;

/**
 * Serves an app over HTTP on Node.
 * @throws InvalidServerError, CannotListenError
 */
export async function serve(app: Runtime, options: ServeOptions = {}): Promise<ListeningServer> {
  const serverOptions = withoutServeOptions(options);
  checkServerOptions(app, serverOptions, Object.keys(serveOptionNames));
  const {
    port = defaultPort,
    hostname = defaultHostname,
    requestTimeout = defaultRequestMs,
    shutdown = {},
    processGuard = 'continue',
  } = options;
  checkServeOptions({ port, hostname, requestTimeout, shutdown, processGuard });
  assertMayListen(serverOptions, hostname);
  const handler = server(app, serverOptions);
  const { limits, onError } = resolveOptions(serverOptions);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.bodyBytes,
    handleProtocols: chosenProtocol,
  });
  const answering = new Answering();
  const node = createAdaptorServer({
    fetch: (request, env) =>
      forbiddenMethods.has(request.method)
        ? noSuchMethod(request)
        : answering.add(handler.fetch(asThePlatformHasIt(request), env)),
    // Their types differ only in what may be `undefined`.
    websocket: { server: sockets as unknown as WebSocketServerLike },
    // Whoever serves an app keeps the classes of the platform.
    overrideGlobalObjects: false,
    serverOptions: {
      keepAliveTimeout: keepAliveMs,
      ...timeoutsOf(requestTimeout),
      // A request that wants another protocol is answered in this one. Else nobody would answer it,
      // nor look after its connection.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    // The adapter calls it in this way alone.
    createServer: serverOfWholeTargets as typeof createServer,
  }) as Server;
  refuseBrokenUpgrades(node);
  const clock = options.ports?.clock ?? systemClock;
  const listening = new Listening({
    app,
    handler,
    answering,
    node,
    sockets,
    clock,
    grace: shutdown.grace ?? defaultGraceMs,
  });
  await listen(node, port, hostname);
  const { port: actual } = node.address() as AddressInfo;
  if (processGuard !== false)
    listening.guard({
      report: onError,
      ...(processGuard === 'close' ? { close: () => listening.close(true) } : {}),
    });
  if (shutdown.signals === true) endBySignals(listening);
  return {
    url: urlOf(hostname, actual),
    port: actual,
    hostname,
    close: (how = {}) => listening.close(how.closeApp === true),
  };
}

/**
 * Those of Node that cut a request at the latest after this time: a request that is late is cut
 * when Node looks the next time.
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

/** The platform has no requests with these. */
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

/**
 * The adapter's requests only look like those of the platform: middleware that copies one, as for
 * the limit of bodies, needs a real one.
 */
function asThePlatformHasIt(request: Request): Request {
  const { url, method, headers, signal } = request;
  const isBodiless = method === 'GET' || method === 'HEAD';
  return new Request(url, {
    method,
    headers,
    signal,
    ...(isBodiless ? {} : { body: whenAskedFor(request), duplex: 'half' }),
  });
}

/**
 * The body of a request, which is not touched before somebody reads it: the adapter passes over one
 * that nobody wants, so that the connection can be used again, but one whose reading was begun
 * holds it up until it is cut, with the next request in it.
 */
function whenAskedFor(request: Request): ReadableStream<Uint8Array> {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        reader ??= request.body?.getReader();
        const { done = true, value } = (await reader?.read()) ?? {};
        if (value !== undefined) controller.enqueue(value);
        if (done) controller.close();
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

const serveOptionNames = {
  port: true,
  hostname: true,
  requestTimeout: true,
  shutdown: true,
  processGuard: true,
} satisfies Record<Exclude<keyof ServeOptions, keyof ServerOptions>, true>;

/** What the handler is made with. What is no object is left as it is, to be refused. */
function withoutServeOptions(options: ServeOptions): ServerOptions {
  if (typeof options !== 'object' || options === null) return options;
  const {
    port: _port,
    hostname: _hostname,
    requestTimeout: _requestTimeout,
    shutdown: _shutdown,
    processGuard: _processGuard,
    ...serverOptions
  } = options;
  return serverOptions;
}

interface CheckedServeOptions {
  readonly port: unknown;
  readonly hostname: unknown;
  readonly requestTimeout: unknown;
  readonly shutdown: ShutdownOptions;
  readonly processGuard: unknown;
}

function checkServeOptions({
  port,
  hostname,
  requestTimeout,
  shutdown,
  processGuard,
}: CheckedServeOptions): void {
  const refuse = (reason: string): never => {
    throw new InvalidServerError({ reason });
  };
  if (!Number.isInteger(port) || (port as number) < 0 || (port as number) > highestPort)
    refuse(`\`port\` must be a number from 0 to ${highestPort}`);
  if (typeof hostname !== 'string' || hostname.trim() === '')
    refuse('`hostname` must be a name or an address to listen on');
  if (!Number.isInteger(requestTimeout) || (requestTimeout as number) < shortestRequestMs)
    refuse(`\`requestTimeout\` must be a number of milliseconds, ${shortestRequestMs} at least`);
  if (!['continue', 'close', false].includes(processGuard as never))
    refuse("`processGuard` must be 'continue', 'close' or false");
  if (typeof shutdown !== 'object' || shutdown === null) refuse('`shutdown` must be an object');
  const { grace = 0, signals = false, ...others } = shutdown;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    refuse(`there is no option \`shutdown.${unknown}\`; there are grace and signals`);
  if (typeof grace !== 'number' || !(grace >= 0))
    refuse('`shutdown.grace` must be a number of milliseconds');
  if (typeof signals !== 'boolean') refuse('`shutdown.signals` must be true or false');
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

interface ListeningParts {
  readonly app: Runtime;
  readonly handler: AdjutantServer;
  readonly answering: Answering;
  readonly node: Server;
  readonly sockets: WebSocketServer;
  readonly clock: Clock;
  readonly grace: number;
}

/** Answers that are being made, also of callers who are gone. */
class Answering {
  readonly #answers = new Set<Promise<unknown>>();

  add<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const ended: Promise<unknown> = answer.then(
      () => this.#answers.delete(ended),
      () => this.#answers.delete(ended),
    );
    this.#answers.add(ended);
    return answer;
  }

  async ended(): Promise<void> {
    await Promise.all(this.#answers);
  }
}

/**
 * How long answers whose callers were cut off have to notice it, and connections that were just
 * made to ask for something.
 */
const noticeMs = 1_000;

/** Sent to WebSockets when the server goes. */
const goingAway = 1001;

class Listening {
  readonly #parts: ListeningParts;
  readonly #connections = new Set<Socket>();
  readonly #underWay = new Set<ServerResponse>();
  #closed: Promise<void> | undefined;
  #appClosed: Promise<void> | undefined;
  #unguard: () => void = () => undefined;

  constructor(parts: ListeningParts) {
    this.#parts = parts;
    const { node } = parts;
    node.prependListener('request', (_request: IncomingMessage, response: ServerResponse) =>
      this.#track(response),
    );
    node.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      // Node takes its own listener away when a request wants another protocol; without any, a
      // connection that breaks would end the process.
      socket.on('error', () => undefined);
      socket.once('close', () => this.#connections.delete(socket));
    });
    // From then on it is a WebSocket's. A listener to `upgrade` would keep the adapter from
    // refusing those that are to be refused.
    parts.sockets.on('connection', (_socket: WebSocket, { socket }: IncomingMessage) =>
      this.#connections.delete(socket),
    );
  }

  #track(response: ServerResponse): void {
    if (this.#closed !== undefined) response.shouldKeepAlive = false;
    this.#underWay.add(response);
    response.once('close', () => {
      this.#underWay.delete(response);
      // One whose head was sent before has been promised that its connection stays.
      if (this.#closed !== undefined)
        this.#parts.clock.setTimer(0, () => this.#parts.node.closeIdleConnections());
    });
  }

  /**
   * To Node a connection that has not asked for anything yet is not idle, so that it would be
   * waited for.
   */
  #endSilent(): void {
    const busy = new Set([...this.#underWay].map(({ socket }) => socket));
    for (const connection of this.#connections) if (!busy.has(connection)) connection.destroy();
  }

  /** Keeps the process until the server is closed. */
  guard(guarded: Guarded): void {
    this.#unguard = guardProcess(guarded);
  }

  async close(closeApp: boolean): Promise<void> {
    try {
      this.#closed ??= this.#close();
      await this.#closed;
      if (closeApp) this.#appClosed ??= this.#parts.app.close();
      await this.#appClosed;
    } finally {
      this.#unguard();
    }
  }

  async #close(): Promise<void> {
    const { node, handler, answering, sockets, clock, grace } = this.#parts;
    const ended = new Promise<void>((resolve) => node.close(() => resolve()));
    for (const response of this.#underWay)
      if (!response.headersSent) response.shouldKeepAlive = false;
    const cancelSilent = clock.setTimer(noticeMs, () => this.#endSilent());
    const cancel = clock.setTimer(grace, () => {
      node.closeAllConnections();
      for (const socket of sockets.clients) socket.terminate();
    });
    await handler.close();
    for (const socket of sockets.clients as Set<WebSocket>)
      socket.close(goingAway, 'The server ends. Come back.');
    await ended;
    cancel();
    cancelSilent();
    await atMost(clock, noticeMs, answering.ended());
    // What the last requests have left to be written.
    await handler.close();
  }
}

function atMost(clock: Clock, ms: number, awaited: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.setTimer(ms, resolve);
    void awaited.then(() => {
      cancel();
      resolve();
    });
  });
}

/**
 * The first signal ends the server and then the process, by the signal itself; a second one ends
 * the process at once.
 */
function endBySignals(listening: Listening): void {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const onSignal = (signal: NodeJS.Signals): void => {
    // From here on a signal does what it does without us.
    for (const other of signals) process.off(other, onSignal);
    listening
      .close(true)
      .catch((error: unknown) =>
        process.emitWarning(visibleLine(`The app could not be closed: ${String(error)}`), {
          type: 'AdjutantWarning',
          code: 'close_failed',
        }),
      )
      .finally(() => {
        // Somebody else who listens decides when the process ends.
        if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
      });
  };
  for (const signal of signals) process.on(signal, onSignal);
}
