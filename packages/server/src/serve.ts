import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer, type WebSocketServerLike } from '@hono/node-server';
import { AdjutantError, type Clock, type Runtime, systemClock, systemIds } from 'adjutant';
import { type WebSocket, WebSocketServer } from 'ws';
import { chosenProtocol } from './access/credential.ts';
import { assertMayListen } from './access/local-access.ts';
import { problemResponse, RequestRefusedError } from './http/problem.ts';
import { checkServerOptions, InvalidServerError } from './option-checks.ts';
import { resolveOptions, type ServerOptions } from './options.ts';
import { type AdjutantServer, server } from './server.ts';

/** How a server ends. */
export interface ShutdownOptions {
  /** Milliseconds that requests under way have to come to their end. @default 10_000 */
  readonly grace?: number;
  /**
   * Whether SIGTERM and SIGINT end the server: no new requests, then the app is closed, so that other processes go on with its runs, and then the
   * process ends by the signal. A second signal ends it at once. @default false
   */
  readonly signals?: boolean;
}

export interface ServeOptions extends ServerOptions {
  /** `0` for one that is free. @default 8787 */
  readonly port?: number;
  /** Address to listen on. Others than this machine's own need `auth`. @default '127.0.0.1' */
  readonly hostname?: string;
  readonly shutdown?: ShutdownOptions;
}

/** A server that listens. */
export interface ListeningServer {
  /** Where callers on this machine reach it. */
  readonly url: string;
  readonly port: number;
  readonly hostname: string;
  /**
   * Takes no more requests, ends all streams, lets requests under way come to their end within the grace and then cuts them off. Runs are not touched:
   * they go on in the app, or in another process when this one ends. Closing again does nothing more.
   * @param options.closeApp also closes the app, so that every run is given back @default false
   */
  close(options?: { readonly closeApp?: boolean }): Promise<void>;
}

/** The server cannot listen where it is to. */
export class CannotListenError extends AdjutantError {
  constructor(data: { hostname: string; port: number; reason: string }, options?: ErrorOptions) {
    super('cannot_listen', `The server cannot listen on ${data.hostname}, port ${data.port}: ${data.reason}.`, data, options);
  }
}

const defaultPort = 8787;
const defaultHostname = '127.0.0.1';
const defaultGraceMs = 10_000;
const highestPort = 65_535;

/** Longer than the minute after which load balancers give up a connection: whoever gives it up must not be us, in the middle of a request of theirs. */
const keepAliveMs = 65_000;
/** For a request to come in, head and body; answers may take as long as they want. */
const requestMs = 60_000;

/**
 * Serves an app over HTTP on Node.
 * @throws InvalidServerError, CannotListenError
 */
export async function serve(app: Runtime, options: ServeOptions = {}): Promise<ListeningServer> {
  const serverOptions = withoutServeOptions(options);
  checkServerOptions(app, serverOptions, Object.keys(serveOptionNames));
  const { port = defaultPort, hostname = defaultHostname, shutdown = {} } = options;
  checkServeOptions({ port, hostname, shutdown });
  assertMayListen(serverOptions, hostname);
  const handler = server(app, serverOptions);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: resolveOptions(serverOptions).limits.bodyBytes,
    handleProtocols: chosenProtocol,
  });
  const answering = new Answering();
  const node = createAdaptorServer({
    fetch: (request, env) =>
      forbiddenMethods.has(request.method) ? noSuchMethod(request) : answering.add(handler.fetch(asThePlatformHasIt(request), env)),
    // Their types differ only in what may be `undefined`.
    websocket: { server: sockets as unknown as WebSocketServerLike },
    // Whoever serves an app keeps the classes of the platform.
    overrideGlobalObjects: false,
    serverOptions: { keepAliveTimeout: keepAliveMs, headersTimeout: requestMs, requestTimeout: requestMs },
  }) as Server;
  const clock = options.ports?.clock ?? systemClock;
  const listening = new Listening({ app, handler, answering, node, sockets, clock, grace: shutdown.grace ?? defaultGraceMs });
  await listen(node, port, hostname);
  const { port: actual } = node.address() as AddressInfo;
  if (shutdown.signals === true) endBySignals(listening);
  return { url: urlOf(hostname, actual), port: actual, hostname, close: (how = {}) => listening.close(how.closeApp === true) };
}

/** The platform has no requests with these. */
const forbiddenMethods: ReadonlySet<string> = new Set(['TRACE', 'TRACK']);

function noSuchMethod({ method }: Request): Response {
  const refusal = new RequestRefusedError(405, 'method_not_allowed', `Nothing here takes ${method}.`, {}, { allow: 'GET, POST, DELETE' });
  return problemResponse(refusal, `req_${systemIds.next()}`);
}

/** The adapter's requests only look like those of the platform: middleware that copies one, as for the limit of bodies, needs a real one. */
function asThePlatformHasIt(request: Request): Request {
  const { url, method, headers, signal } = request;
  const isBodiless = method === 'GET' || method === 'HEAD';
  return new Request(url, { method, headers, signal, ...(isBodiless ? {} : { body: whenAskedFor(request), duplex: 'half' }) });
}

/**
 * The body of a request, which is not touched before somebody reads it: the adapter passes over one that nobody wants, so that the connection can be
 * used again, but one whose reading was begun holds it up until it is cut, with the next request in it.
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

const serveOptionNames = { port: true, hostname: true, shutdown: true } satisfies Record<Exclude<keyof ServeOptions, keyof ServerOptions>, true>;

/** What the handler is made with. What is no object is left as it is, to be refused. */
function withoutServeOptions(options: ServeOptions): ServerOptions {
  if (typeof options !== 'object' || options === null) return options;
  const { port: _port, hostname: _hostname, shutdown: _shutdown, ...serverOptions } = options;
  return serverOptions;
}

function checkServeOptions({ port, hostname, shutdown }: { port: unknown; hostname: unknown; shutdown: ShutdownOptions }): void {
  const refuse = (reason: string): never => {
    throw new InvalidServerError({ reason });
  };
  if (!Number.isInteger(port) || (port as number) < 0 || (port as number) > highestPort) refuse(`\`port\` must be a number from 0 to ${highestPort}`);
  if (typeof hostname !== 'string' || hostname.trim() === '') refuse('`hostname` must be a name or an address to listen on');
  if (typeof shutdown !== 'object' || shutdown === null) refuse('`shutdown` must be an object');
  const { grace = 0, signals = false, ...others } = shutdown;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) refuse(`there is no option \`shutdown.${unknown}\`; there are grace and signals`);
  if (typeof grace !== 'number' || !(grace >= 0)) refuse('`shutdown.grace` must be a number of milliseconds');
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

/** How long answers whose callers were cut off have to notice it, and connections that were just made to ask for something. */
const noticeMs = 1_000;

/** Sent to WebSockets when the server goes. */
const goingAway = 1001;

class Listening {
  readonly #parts: ListeningParts;
  readonly #connections = new Set<Socket>();
  readonly #underWay = new Set<ServerResponse>();
  #closed: Promise<void> | undefined;
  #appClosed: Promise<void> | undefined;

  constructor(parts: ListeningParts) {
    this.#parts = parts;
    const { node } = parts;
    node.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => this.#track(response));
    node.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
    });
    // From then on it is a WebSocket's. A listener to `upgrade` would keep the adapter from refusing those that are to be refused.
    parts.sockets.on('connection', (_socket: WebSocket, { socket }: IncomingMessage) => this.#connections.delete(socket));
  }

  #track(response: ServerResponse): void {
    if (this.#closed !== undefined) response.shouldKeepAlive = false;
    this.#underWay.add(response);
    response.once('close', () => {
      this.#underWay.delete(response);
      // One whose head was sent before has been promised that its connection stays.
      if (this.#closed !== undefined) this.#parts.clock.setTimer(0, () => this.#parts.node.closeIdleConnections());
    });
  }

  /** To Node a connection that has not asked for anything yet is not idle, so that it would be waited for. */
  #endSilent(): void {
    const busy = new Set([...this.#underWay].map(({ socket }) => socket));
    for (const connection of this.#connections) if (!busy.has(connection)) connection.destroy();
  }

  async close(closeApp: boolean): Promise<void> {
    this.#closed ??= this.#close();
    await this.#closed;
    if (closeApp) this.#appClosed ??= this.#parts.app.close();
    await this.#appClosed;
  }

  async #close(): Promise<void> {
    const { node, handler, answering, sockets, clock, grace } = this.#parts;
    const ended = new Promise<void>((resolve) => node.close(() => resolve()));
    for (const response of this.#underWay) if (!response.headersSent) response.shouldKeepAlive = false;
    const cancelSilent = clock.setTimer(noticeMs, () => this.#endSilent());
    const cancel = clock.setTimer(grace, () => {
      node.closeAllConnections();
      for (const socket of sockets.clients) socket.terminate();
    });
    await handler.close();
    for (const socket of sockets.clients as Set<WebSocket>) socket.close(goingAway, 'The server ends. Come back.');
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

/** The first signal ends the server and then the process, by the signal itself; a second one ends the process at once. */
function endBySignals(listening: Listening): void {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const onSignal = (signal: NodeJS.Signals): void => {
    // From here on a signal does what it does without us.
    for (const other of signals) process.off(other, onSignal);
    listening
      .close(true)
      .catch((error: unknown) =>
        process.emitWarning(`The app could not be closed: ${String(error)}`, { type: 'AdjutantWarning', code: 'close_failed' }),
      )
      .finally(() => {
        // Somebody else who listens decides when the process ends.
        if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
      });
  };
  for (const signal of signals) process.on(signal, onSignal);
}
