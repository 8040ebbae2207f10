/** Map of the values used last, as far as there is room: the longest unused goes first. */
export class Bounded<Value> {
  readonly #entries = new Map<string, { readonly value: Value; size: number }>();
  readonly #room: number;
  #size = 0;

  /** @param room largest sum of the sizes of all entries */
  constructor(room: number) {
    this.#room = room;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** A value that is larger than all of the room is not kept. */
  set(key: string, value: Value, size: number): void {
    this.delete(key);
    if (size > this.#room) return;
    this.#entries.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#room) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#size -= entry.size;
  }

  /** Deletes what has a key that begins so. */
  deleteAll(prefix: string): void {
    for (const key of this.#entries.keys()) if (key.startsWith(prefix)) this.delete(key);
  }
}
