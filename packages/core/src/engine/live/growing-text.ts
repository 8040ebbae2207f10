/**
 * A text that grows in small parts and whose end is read again and again. It is kept in parts: a
 * single string would be copied whole for each reading of its end.
 */
export class GrowingText {
  readonly #parts: string[] = [];
  #length = 0;

  constructor(text: string) {
    this.append(text);
  }

  get length(): number {
    return this.#length;
  }

  append(text: string): void {
    this.#parts.push(text);
    this.#length += text.length;
  }

  /**
   * Returns the text after the first `offset` characters. Its time grows with the number of parts
   * there.
   */
  from(offset: number): string {
    let start = this.#length;
    let index = this.#parts.length;
    while (start > offset) start -= this.#parts[--index]?.length ?? 0;
    const [first = '', ...others] = this.#parts.slice(index);
    return [first.slice(offset - start), ...others].join('');
  }
}
