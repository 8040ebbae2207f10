import type { SentFrame } from './frame.ts';

/** As many as may be told of one session before the last of its readers has had them. */
const keptFrames = 64;

interface Written {
  readonly id: string | undefined;
  readonly event: string;
  readonly bytes: Uint8Array;
}

/** A frame as a server-sent event. */
export function encodedFrame({ id, event, data }: SentFrame): string {
  const line = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
  return id === undefined ? line : `id: ${id}\n${line}`;
}

/**
 * Frames as bytes. One that many readers are told is written once for all of them; it is known by
 * its data, which must not be changed.
 */
export class WrittenFrames {
  readonly #kept = new Map<object, Written>();
  readonly #encoder = new TextEncoder();

  /** The bytes may be those that others have, too. */
  of(frame: SentFrame): Uint8Array {
    const { id, event, data } = frame;
    const kept = this.#kept.get(data);
    if (kept !== undefined && kept.id === id && kept.event === event) return kept.bytes;
    const bytes = this.#encoder.encode(encodedFrame(frame));
    this.#kept.set(data, { id, event, bytes });
    if (this.#kept.size > keptFrames) this.#kept.delete(this.#kept.keys().next().value as object);
    return bytes;
  }

  /** Keeps nothing of what was told, as of a session that is deleted. */
  forget(): void {
    this.#kept.clear();
  }
}
