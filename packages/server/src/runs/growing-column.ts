type Numbers = Float64Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;

const firstLength = 64;

/** Numbers that are appended one by one and take no more room than their kind needs. */
export class GrowingColumn {
  readonly #make: (length: number) => Numbers;
  #values: Numbers;
  #length = 0;

  /** @param make makes room for so many numbers */
  constructor(make: (length: number) => Numbers) {
    this.#make = make;
    this.#values = make(firstLength);
  }

  get length(): number {
    return this.#length;
  }

  /** Bytes that it holds. */
  get size(): number {
    return this.#values.byteLength;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const longer = this.#make(this.#length * 2);
      longer.set(this.#values);
      this.#values = longer;
    }
    this.#values[this.#length++] = value;
  }

  at(index: number): number {
    return this.#values[index] ?? 0;
  }

  /** A copy of the numbers from one place to before another. */
  slice(from: number, to: number): Numbers {
    return this.#values.slice(from, Math.min(to, this.#length));
  }
}
