import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Runtime } from 'adjutant';
import type { Clock } from 'adjutant/ports';
import type { WebSocket, WebSocketServer } from 'ws';
import { type Guarded, guardProcess } from './process-guard.ts';
import type { AdjutantServer } from './server.ts';

interface ListeningParts {
  readonly app: Runtime;
  readonly handler: AdjutantServer;
  readonly answering: Answering;
  readonly node: Server;
  readonly sockets: WebSocketServer;
  readonly clock: Clock;
  readonly graceMs: number;
}

/** Answers that are being made, also for callers who are gone. */
export class Answering {
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
 * Time in milliseconds for answers to notice that their callers were cut off, and for new
 * connections to send a request.
 */
const noticeMs = 1_000;

/** Close code for WebSockets when the server closes. */
const goingAway = 1001;

export class Listening {
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
      // A response whose head was sent before has promised to keep its connection.
      if (this.#closed !== undefined)
        this.#parts.clock.setTimer(0, () => this.#parts.node.closeIdleConnections());
    });
  }

  /**
   * Ends connections without a request. Node does not count a connection as idle before its first
   * request, and would wait for it.
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
    const { node, handler, answering, sockets, clock, graceMs } = this.#parts;
    const ended = new Promise<void>((resolve) => node.close(() => resolve()));
    for (const response of this.#underWay)
      if (!response.headersSent) response.shouldKeepAlive = false;
    const cancelSilent = clock.setTimer(noticeMs, () => this.#endSilent());
    const cancel = clock.setTimer(graceMs, () => {
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
    // The last requests may have left entries to be written.
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
