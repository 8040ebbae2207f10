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
import { isPassing, type Transport } from './transport.ts';

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

/**
 * The events of a stream, over as many connections as it takes: each durable event once, in order,
 * none left out; transient events as they happen, and after a lost connection `stream_reset` and
 * the text so far. Ends when the server says that there will be no more, or by the signal.
 */
export function follow(
  transport: Transport,
  followed: Followed,
): AsyncIterableIterator<StreamEvent> {
  const leaving = new AbortController();
  const signal =
    followed.signal === undefined
      ? leaving.signal
      : AbortSignal.any([followed.signal, leaving.signal]);
  const events = new Follower(transport, followed, signal).events();
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => events.next(),
    // A generator alone would wait for the next event before it ends.
    return: async () => {
      leaving.abort();
      await events.return();
      return { done: true, value: undefined };
    },
  };
}

class Follower {
  readonly #transport: Transport;
  readonly #followed: Followed;
  readonly #signal: AbortSignal;
  readonly #backOff: BackOff;
  #last: number;
  #isBack = false;

  constructor(transport: Transport, followed: Followed, signal: AbortSignal) {
    this.#transport = transport;
    this.#followed = followed;
    this.#signal = signal;
    this.#backOff = transport.backOff();
    this.#last = followed.after ?? 0;
  }

  async *events(): AsyncGenerator<StreamEvent, void> {
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
    const url = this.#transport.urlOf({ path: this.#followed.path });
    throw new ConnectionLostError(
      { url, triedFor: this.#backOff.triedFor, after: this.#last },
      { cause: lost },
    );
  }

  /** Yields the events of one connection; returns `true` when the stream has come to its end. */
  async *#connection(): AsyncGenerator<StreamEvent, boolean> {
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
      const event = this.#taken(frame);
      if (event !== undefined) yield event;
    }
    return false;
  }

  async #open(): Promise<Response> {
    const { options } = this.#transport;
    const { path } = this.#followed;
    const late = new AbortController();
    const cancel = options.ports.clock.setTimer(options.timeoutMs, () => late.abort());
    try {
      return await this.#transport.fetch({
        method: 'GET',
        path,
        query: this.#last > 0 ? { after: this.#last } : {},
        headers: {
          accept: 'text/event-stream',
          ...(this.#isBack && this.#last > 0 ? { 'last-event-id': String(this.#last) } : {}),
        },
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

  /**
   * The event of a frame; `undefined` for one that has come before, and for what is said of the
   * stream itself.
   */
  #taken({ id, data }: EventSourceMessage): StreamEvent | undefined {
    const event = JSON.parse(data) as StreamEvent;
    if (id === undefined) return isTransient(event) ? event : undefined;
    const seq = Number(id);
    if (seq <= this.#last) return undefined;
    if (this.#followed.isWhole && seq !== this.#last + 1)
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
