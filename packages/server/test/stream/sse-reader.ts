import { createParser } from 'eventsource-parser';

/** A frame as a client gets it. */
export interface ReadFrame {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Reads a response of server-sent events frame by frame. */
export class SseReader {
  readonly comments: string[] = [];
  readonly frames: ReadFrame[] = [];
  /** True once the server has ended the stream. */
  isEnded = false;
  #read = 0;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({
    onEvent: ({ id, event, data }) =>
      void this.frames.push({
        id,
        event: event ?? 'message',
        data: JSON.parse(data) as Record<string, unknown>,
      }),
    onComment: (comment) => void this.comments.push(comment),
  });

  constructor(response: Response) {
    if (response.status !== 200 || response.body === null)
      throw new Error(`This is no stream: ${response.status}`);
    this.#reader = response.body.getReader();
  }

  /** The next frame; `undefined` at the end. */
  async next(): Promise<ReadFrame | undefined> {
    while (this.#read === this.frames.length) if (!(await this.readChunk())) return undefined;
    return this.frames[this.#read++];
  }

  /** Takes one chunk. Returns whether there was one. */
  async readChunk(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    if (done) {
      this.isEnded = true;
      return false;
    }
    this.#parser.feed(this.#decoder.decode(value, { stream: true }));
    return true;
  }

  /** All frames up to the first that is wanted, with it. */
  async until(isWanted: (frame: ReadFrame) => boolean): Promise<readonly ReadFrame[]> {
    const found: ReadFrame[] = [];
    for (let frame = await this.next(); frame !== undefined; frame = await this.next()) {
      found.push(frame);
      if (isWanted(frame)) return found;
    }
    throw new Error(
      `The stream ended before that came; it had ${found.map(({ event }) => event).join(', ')}`,
    );
  }

  /** Everything to the end of the stream. */
  async rest(): Promise<readonly ReadFrame[]> {
    const found: ReadFrame[] = [];
    for (let frame = await this.next(); frame !== undefined; frame = await this.next())
      found.push(frame);
    return found;
  }

  async close(): Promise<void> {
    await this.#reader.cancel();
  }
}
