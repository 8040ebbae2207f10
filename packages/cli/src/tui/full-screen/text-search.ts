import { type Line, sliceLine, textOfLine } from '../text/spans.ts';

/**
 * A search as it was typed. Small letters find large ones as well; a large letter finds only
 * itself.
 */
export class TextSearch {
  readonly typed: string;
  readonly #isExact: boolean;
  readonly #wanted: string;

  constructor(typed: string) {
    this.typed = typed;
    this.#isExact = /\p{Lu}/u.test(typed);
    this.#wanted = this.#isExact ? typed : typed.toLowerCase();
  }

  #comparable(text: string): string {
    return this.#isExact ? text : text.toLowerCase();
  }

  isIn(text: string): boolean {
    return this.#wanted !== '' && this.#comparable(text).includes(this.#wanted);
  }

  /** The line with what is found in it underlined. */
  marked(line: Line): Line {
    const text = this.#comparable(textOfLine(line));
    // Letters whose small form is longer than they are would shift the marks.
    if (this.#wanted === '' || text.length !== textOfLine(line).length) return line;
    const parts: Line[number][] = [];
    let done = 0;
    for (
      let at = text.indexOf(this.#wanted);
      at !== -1;
      at = text.indexOf(this.#wanted, at + this.#wanted.length)
    ) {
      const end = at + this.#wanted.length;
      const found = sliceLine(line, at, end);
      parts.push(...sliceLine(line, done, at));
      parts.push(...found.map((span) => ({ ...span, bold: true, underline: true })));
      done = end;
    }
    return done === 0 ? line : [...parts, ...sliceLine(line, done, text.length)];
  }
}
