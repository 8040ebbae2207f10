import { get, type IncomingMessage } from 'node:http';
import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** A frame as a client got it. */
export interface ClientFrame {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

export interface ClientOptions {
  readonly port: number;
  readonly path: string;
  readonly random: () => number;
  /** True for the last frame. */
  readonly isLast: (frame: ClientFrame) => boolean;
  /** Share of the pieces that are read after a pause only. */
  readonly slowness: number;
}

const longestPauseMs = 150;

/**
 * Follows a stream as an `EventSource` does: comes back with the id of the last event, until it is
 * told to stop.
 */
export class ReconnectingClient {
  /** Everything that it got, in order. */
  readonly frames: ClientFrame[] = [];
  connections = 0;
  /** Is settled with its first frame. */
  readonly first: Promise<void>;
  #hasFirst: () => void = () => undefined;
  #lastId: string | undefined;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.first = new Promise((resolve) => {
      this.#hasFirst = resolve;
    });
  }

  async follow(): Promise<void> {
    while (!(await this.#connect())) await this.#pause(20);
  }

  /** Returns whether everything was told. */
  #connect(): Promise<boolean> {
    this.connections++;
    const { port, path } = this.#options;
    const headers = this.#lastId === undefined ? {} : { 'last-event-id': this.#lastId };
    return new Promise((resolve, reject) => {
      const request = get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
        if (response.statusCode === 204) {
          response.resume();
          resolve(true);
        } else if (response.statusCode === 200) this.#read(response).then(resolve, reject);
        else
          reject(
            new Error(`${path} answered ${response.statusCode} to Last-Event-ID ${this.#lastId}`),
          );
      });
      request.on('error', () => resolve(false));
    });
  }

  async #read(response: IncomingMessage): Promise<boolean> {
    let isOver = false;
    const parser = createParser({ onEvent: (message) => (isOver ||= this.#take(message)) });
    try {
      response.setEncoding('utf8');
      for await (const text of response) {
        parser.feed(text as string);
        if (isOver) break;
        if (this.#options.random() < this.#options.slowness) await this.#pause(longestPauseMs);
      }
    } catch {
      // The connection was lost; what came in part is not looked at.
    }
    response.destroy();
    return isOver;
  }

  #take({ id, event = 'message', data }: EventSourceMessage): boolean {
    const frame = { id, event, data };
    this.frames.push(frame);
    this.#hasFirst();
    if (id !== undefined) this.#lastId = id;
    return this.#options.isLast(frame);
  }

  #pause(longest: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.#options.random() * longest));
  }
}
