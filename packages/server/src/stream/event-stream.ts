import type { UnderlyingSource } from 'node:stream/web';
import type { Clock } from 'adjutant/ports';
import type { SentFrame } from './frame.ts';
import type { Encoding, Piece } from './replay/telling.ts';
import { encodedFrame, WrittenFrames } from './written-frames.ts';

/** Reason to end a stream early. */
export interface StreamEnding {
  readonly signal: AbortSignal;
  readonly note: string;
}

/** Ports of a stream of server-sent events. */
export interface EventStreamPorts {
  readonly clock: Clock;
  /** Milliseconds without a frame after which a comment is sent. */
  readonly heartbeatMs: number;
  /**
   * Endings of the stream, each with the comment that says so. `whileOpen` is aborted when the
   * stream is over.
   */
  readonly endings: (whileOpen: AbortSignal) => readonly StreamEnding[];
  /** Returns the frame that tells a reader that the stream broke. */
  readonly problem: (error: unknown) => SentFrame;
  /** Called once, when the reader is gone or the stream is complete. */
  readonly onClose: () => void;
  readonly onSent?: (frames: number) => void;
  /** Encoding of the frames. @default as named events */
  readonly encoding?: Encoding<Uint8Array>;
}

type PieceSource = (
  encoding: Encoding<Uint8Array>,
  signal: AbortSignal,
) => AsyncGenerator<Piece<Uint8Array>, void, undefined>;

/** Milliseconds after which an `EventSource` that has lost its stream comes back. */
const retryMs = 1_000;

/**
 * Shared by all streams of the process: most who follow a session are told the same at the same
 * time.
 */
const written = new WrittenFrames();
const encoder = new TextEncoder();

/** Frames as server-sent events, of which `text` writes one. */
export function eventEncoding(
  name: string,
  text: (frame: SentFrame) => string,
): Encoding<Uint8Array> {
  const join = (texts: readonly string[]): Uint8Array => encoder.encode(texts.join(''));
  return { name, text, join, write: (frames) => join(frames.map(text)) };
}

const named = eventEncoding('named events', encodedFrame);
const namedEvents: Encoding<Uint8Array> = {
  ...named,
  write: (frames) => {
    const [first] = frames;
    return first !== undefined && frames.length === 1 ? written.of(first) : named.write(frames);
  },
};

/**
 * A response body that gives frames as server-sent events. It takes a piece of them only when the
 * reader wants one, so that a slow reader costs no more than a fast one; its source is closed as
 * soon as the reader is gone.
 */
export function eventStream(
  source: PieceSource,
  ports: EventStreamPorts,
): ReadableStream<Uint8Array> {
  return new ReadableStream(
    new EventStreamSource(source, ports),
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  );
}

class EventStreamSource implements UnderlyingSource<Uint8Array> {
  readonly #ports: EventStreamPorts;
  readonly #gone = new AbortController();
  readonly #pieces: AsyncGenerator<Piece<Uint8Array>, void, undefined>;
  readonly #encoding: Encoding<Uint8Array>;
  #isWanted = false;
  #isOver = false;
  /** Reason why the stream ends early. */
  #note: string | undefined;
  #lastSent: number;
  #cancelTimer: () => void = () => undefined;

  constructor(source: PieceSource, ports: EventStreamPorts) {
    this.#ports = ports;
    this.#encoding = ports.encoding ?? namedEvents;
    this.#pieces = source(this.#encoding, this.#gone.signal);
    this.#lastSent = ports.clock.monotonic();
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    for (const { signal, note } of this.#ports.endings(this.#gone.signal)) {
      const stop = (): void => {
        this.#note ??= note;
        this.#gone.abort();
      };
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true, signal: this.#gone.signal });
    }
    this.#send(controller, `retry: ${retryMs}\n\n`);
    this.#beat(controller, this.#ports.heartbeatMs);
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#isWanted = true;
    try {
      const { done, value } = await this.#pieces.next();
      this.#isWanted = false;
      if (this.#isOver) return;
      if (done === true) {
        if (this.#note !== undefined) this.#send(controller, `: ${this.#note}\n\n`);
        this.#close(controller);
        return;
      }
      this.#give(controller, value.written);
      this.#ports.onSent?.(value.frames);
    } catch (error) {
      this.#isWanted = false;
      if (this.#isOver) return;
      this.#give(controller, this.#encoding.write([this.#ports.problem(error)]));
      this.#close(controller);
    }
  }

  async cancel(): Promise<void> {
    this.#end();
    await this.#pieces.return();
  }

  #send(controller: ReadableStreamDefaultController<Uint8Array>, text: string): void {
    this.#give(controller, encoder.encode(text));
  }

  #give(controller: ReadableStreamDefaultController<Uint8Array>, bytes: Uint8Array): void {
    controller.enqueue(bytes);
    this.#lastSent = this.#ports.clock.monotonic();
  }

  #close(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#end();
    controller.close();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    this.#gone.abort();
    written.forget();
    this.#ports.onClose();
  }

  /** Sends a comment when nothing else was sent for long and the reader waits. */
  #beat(controller: ReadableStreamDefaultController<Uint8Array>, wait: number): void {
    const { clock, heartbeatMs } = this.#ports;
    this.#cancelTimer = clock.setTimer(wait, () => {
      if (this.#isOver) return;
      const quiet = clock.monotonic() - this.#lastSent;
      if (quiet < heartbeatMs) {
        this.#beat(controller, heartbeatMs - quiet);
        return;
      }
      // Bytes that the reader has not taken yet are a sign of life already.
      if (this.#isWanted && controller.desiredSize === 0) this.#send(controller, ': \n\n');
      this.#beat(controller, heartbeatMs);
    });
  }
}
