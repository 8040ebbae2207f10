import type { Notice } from '../notice.ts';

/** A notice as an open stream of its recipient gets it. */
export interface StreamedNotice {
  /** Key of the sending, the same when a notice is sent again. */
  readonly id: string;
  readonly notice: Notice;
  /** Notices before this one that did not fit into the buffer and are lost to this stream. */
  readonly missed?: number;
}

/** Keys of sendings that a stream remembers, so that none comes twice. */
const mostKeys = 1_000;

/** An open stream of one person. Reading goes on until it is closed. */
export interface NoticeStream extends AsyncIterableIterator<StreamedNotice> {
  /** Ends the stream. What is in its buffer can still be read. */
  close(): void;
}

/** A stream whose notices wait for its reader in a buffer of limited size. */
export class BufferedStream implements NoticeStream {
  readonly #bufferSize: number;
  readonly #onClose: () => void;
  readonly #keys = new Set<string>();
  #waiting: StreamedNotice[] = [];
  #missed = 0;
  #readers: ((result: IteratorResult<StreamedNotice>) => void)[] = [];
  #isClosed = false;

  constructor(bufferSize: number, onClose: () => void) {
    this.#bufferSize = bufferSize;
    this.#onClose = onClose;
  }

  /** Takes a notice; one with a known key is left out. The oldest makes room when it is full. */
  push(id: string, notice: Notice): void {
    if (this.#isClosed || this.#keys.has(id)) return;
    this.#keys.add(id);
    for (const oldest of this.#keys) {
      if (this.#keys.size <= mostKeys) break;
      this.#keys.delete(oldest);
    }
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader({ done: false, value: this.#told({ id, notice }) });
      return;
    }
    this.#waiting.push({ id, notice });
    if (this.#waiting.length <= this.#bufferSize) return;
    this.#waiting.shift();
    this.#missed++;
  }

  next(): Promise<IteratorResult<StreamedNotice>> {
    const first = this.#waiting.shift();
    if (first !== undefined) return Promise.resolve({ done: false, value: this.#told(first) });
    if (this.#isClosed) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const reader of this.#readers) reader({ done: true, value: undefined });
    this.#readers = [];
    this.#onClose();
  }

  /** Ends the stream and drops what is in the buffer, as leaving a `for await` does. */
  async return(): Promise<IteratorResult<StreamedNotice>> {
    this.#waiting = [];
    this.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #told(streamed: StreamedNotice): StreamedNotice {
    const missed = this.#missed;
    this.#missed = 0;
    return missed === 0 ? streamed : { ...streamed, missed };
  }
}
