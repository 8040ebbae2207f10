import type { StreamEvent } from 'adjutant';
import type { EventSourceMessage } from 'eventsource-parser';
import type { Problem } from '../http/problem.ts';
import type { BackOff } from './back-off.ts';
import {
  ConnectionLostError,
  LostError,
  ServerProblemError,
  UnexpectedAnswerError,
} from './errors.ts';
import { readFrames } from './frames.ts';
import { type Call, isPassing, type Transport } from './transport.ts';

export interface FollowOptions {
  /** Gives the events after the one with this seq. @default 0: all */
  readonly after?: number;
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
}

export interface Followed extends FollowOptions {
  readonly path: string;
  /** True when every seq comes. Then a missing seq means that the connection has lost an event. */
  readonly isWhole: boolean;
}

/** Names of the frames about a stream itself: its end, and the problem that broke it. */
const endOfStream = 'end';
const brokenStream = 'problem';

/** Reading of the frames of a stream, over all connections. */
export interface FrameReader<Item> {
  /** Seq after which the stream goes on, for the error of one that is lost. */
  readonly after?: number | undefined;
  /** The rest of a request for the stream. @param isBack a connection was made before */
  request(isBack: boolean): Pick<Call, 'query' | 'headers'>;
  /** Gives what a frame says. @throws LostError when the connection has to be made again */
  take(frame: EventSourceMessage): Iterable<Item> | AsyncIterable<Item>;
}

/**
 * The events of a stream, over as many connections as it takes: each durable event once, in order,
 * none left out; transient events as they happen, and after a lost connection `stream_reset` and
 * the text so far. Ends when the server says that there will be no more, or by the signal.
 */
export function follow(
  transport: Transport,
  followed: Followed,
): AsyncIterableIterator<StreamEvent> {
  return followFrames(transport, { ...followed, reader: new EventReader(followed) });
}

/** What a reader makes of the frames of a stream, over as many connections as it takes. */
export function followFrames<Item>(
  transport: Transport,
  {
    path,
    reader,
    signal: given,
  }: Pick<Followed, 'path' | 'signal'> & { readonly reader: FrameReader<Item> },
): AsyncIterableIterator<Item> {
  const leaving = new AbortController();
  const signal = given === undefined ? leaving.signal : AbortSignal.any([given, leaving.signal]);
  const items = new Follower(transport, { path, reader, signal }).items();
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => items.next(),
    // A generator alone would wait for the next event before it ends.
    return: async () => {
      leaving.abort();
      await items.return();
      return { done: true, value: undefined };
    },
  };
}

interface FollowedFrames<Item> {
  readonly path: string;
  readonly reader: FrameReader<Item>;
  readonly signal: AbortSignal;
}

class Follower<Item> {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #reader: FrameReader<Item>;
  readonly #signal: AbortSignal;
  readonly #backOff: BackOff;
  #isBack = false;

  constructor(transport: Transport, { path, reader, signal }: FollowedFrames<Item>) {
    this.#transport = transport;
    this.#path = path;
    this.#reader = reader;
    this.#signal = signal;
    this.#backOff = transport.backOff();
  }

  async *items(): AsyncGenerator<Item, void> {
    for (;;) {
      let lost: unknown = new LostError('the connection was closed');
      try {
        if (yield* this.#connection()) return;
      } catch (error) {
        if (this.#signal.aborted) return;
        if (!isPassing(error)) throw error;
        lost = error;
      }
      this.#isBack = true;
      if (!(await this.#isWorthAnother(lost))) return;
    }
  }

  /**
   * Waits before the next connection; `false` when nobody wants it any more. @throws
   * ConnectionLostError, ServerProblemError
   */
  async #isWorthAnother(lost: unknown): Promise<boolean> {
    const { retryAfterMs } = lost as { readonly retryAfterMs?: number };
    try {
      if (await this.#backOff.wait(this.#signal, retryAfterMs)) return true;
    } catch (error) {
      if (this.#signal.aborted) return false;
      throw error;
    }
    if (!(lost instanceof LostError)) throw lost;
    const url = this.#transport.urlOf({ path: this.#path });
    throw new ConnectionLostError(
      { url, triedFor: this.#backOff.triedFor, after: this.#reader.after },
      { cause: lost },
    );
  }

  /** Yields the items of one connection; returns `true` when the stream has come to its end. */
  async *#connection(): AsyncGenerator<Item, boolean> {
    const { options } = this.#transport;
    const response = await this.#open();
    if (response.status === 204) return true;
    const frames = readFrames(this.#bodyOf(response), {
      clock: options.ports.clock,
      silenceMs: options.retry.silenceMs,
      onBytes: () => this.#backOff.reached(),
      onRetry: (ms) => this.#backOff.prefer(ms),
    });
    for await (const frame of frames) {
      if (frame.event === brokenStream) throw breakOf(JSON.parse(frame.data) as Problem);
      this.#backOff.succeeded();
      if (frame.event === endOfStream) return true;
      yield* this.#reader.take(frame);
    }
    return false;
  }

  async #open(): Promise<Response> {
    const { options } = this.#transport;
    const late = new AbortController();
    const cancel = options.ports.clock.setTimer(options.timeoutMs, () => late.abort());
    const { query = {}, headers = {} } = this.#reader.request(this.#isBack);
    try {
      return await this.#transport.fetch({
        method: 'GET',
        path: this.#path,
        query,
        headers: { accept: 'text/event-stream', ...headers },
        signal: AbortSignal.any([this.#signal, late.signal]),
      });
    } catch (error) {
      throw late.signal.aborted ? new LostError('no answer came in time') : error;
    } finally {
      cancel();
    }
  }

  /** @throws UnexpectedAnswerError */
  #bodyOf({ body, headers, status, url }: Response): ReadableStream<Uint8Array> {
    const type = headers.get('content-type');
    if (body !== null && type?.startsWith('text/event-stream')) return body;
    throw new UnexpectedAnswerError({
      url,
      status,
      reason: `${type ?? 'nothing'} in the place of a stream of events`,
    });
  }
}

/** Reads the events of a session or a run. */
class EventReader implements FrameReader<StreamEvent> {
  readonly #isWhole: boolean;
  #last: number;

  constructor({ after = 0, isWhole }: Pick<Followed, 'after' | 'isWhole'>) {
    this.#isWhole = isWhole;
    this.#last = after;
  }

  get after(): number {
    return this.#last;
  }

  request(isBack: boolean): Pick<Call, 'query' | 'headers'> {
    if (this.#last === 0) return {};
    return {
      query: { after: this.#last },
      headers: isBack ? { 'last-event-id': String(this.#last) } : {},
    };
  }

  take(frame: EventSourceMessage): readonly StreamEvent[] {
    const event = this.#taken(frame);
    return event === undefined ? [] : [event];
  }

  /**
   * The event of a frame; `undefined` for one that has come before, and for what is said of the
   * stream itself.
   */
  #taken({ id, data }: EventSourceMessage): StreamEvent | undefined {
    const event = JSON.parse(data) as StreamEvent;
    if (id === undefined) return isTransient(event) ? event : undefined;
    const seq = Number(id);
    if (seq <= this.#last) return undefined;
    if (this.#isWhole && seq !== this.#last + 1)
      throw new LostError(`event ${this.#last + 1} is missing`);
    this.#last = seq;
    return event;
  }
}

/** A fault inside the server may not repeat a moment later, or in another process. */
function breakOf(problem: Problem): Error {
  const error = new ServerProblemError(problem);
  return error.status >= 500 ? new LostError(problem.detail, { cause: error }) : error;
}

const transientTypes: ReadonlySet<string> = new Set([
  'assistant_delta',
  'thought_delta',
  'tool_args_delta',
  'tool_progress',
  'stream_reset',
]);

/** Frames without a seq may also be about the stream. */
function isTransient({ type }: { readonly type: string }): boolean {
  return transientTypes.has(type);
}
