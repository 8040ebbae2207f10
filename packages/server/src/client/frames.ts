import type { Clock } from 'adjutant/ports';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { LostError } from './errors.ts';

export interface FrameReading {
  readonly clock: Clock;
  /** Milliseconds without a byte after which the connection counts as lost. */
  readonly silenceMs: number;
  /** Called with each sign of life, heartbeats included. */
  readonly onBytes: () => void;
  /** Called with the milliseconds after which the server wants a client to come back. */
  readonly onRetry: (ms: number) => void;
}

/**
 * The frames of a stream of server-sent events, as they come. One that is cut off in the middle is
 * left out. Ends when the connection does.
 */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  reading: FrameReading,
): AsyncGenerator<EventSourceMessage> {
  const decoder = new TextDecoder();
  const ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (frame) => ready.push(frame), onRetry: reading.onRetry });
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await notForever(reader.read(), reading);
      if (done) return;
      reading.onBytes();
      parser.feed(decoder.decode(value, { stream: true }));
      yield* ready.splice(0);
    }
  } finally {
    // The rest is not read; the connection is closed with it.
    await reader.cancel().catch(() => undefined);
  }
}

function notForever<Value>(
  reading: Promise<Value>,
  { clock, silenceMs }: FrameReading,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(silenceMs, () =>
      reject(new LostError(`nothing came for ${silenceMs} ms`)),
    );
    reading
      .then(resolve, (error: unknown) =>
        reject(new LostError('the connection broke off', { cause: error })),
      )
      .finally(cancel);
  });
}
