/** Receives the pieces of a text in order; `isThought` is true for thoughts. */
export type PieceSink = (text: string, isThought: boolean) => void;

/**
 * Splits a streamed text into the parts inside and outside of tags. Each character is read once.
 */
export class ThinkSplitter {
  readonly #opening: readonly string[];
  readonly #closing: readonly string[];
  readonly #longest: number;
  readonly #sink: PieceSink;
  /** Text that may begin a tag, or white space that a tag may follow. */
  #held = '';
  #isInside = false;
  /** True when the next white space belongs to a tag and is left out. */
  #trims = false;
  /** True while only white space has come. */
  #isFirst = true;
  #last = '';

  constructor(tags: readonly string[], sink: PieceSink) {
    this.#opening = tags.map((tag) => `<${tag.toLowerCase()}>`);
    this.#closing = tags.map((tag) => `</${tag.toLowerCase()}>`);
    this.#longest = Math.max(...this.#closing.map(({ length }) => length));
    this.#sink = sink;
  }

  take(delta: string): void {
    // Most deltas of most answers.
    if (this.#held === '' && !this.#isFirst && !this.#trims && !delta.includes('<'))
      this.#give(delta);
    else this.#read(this.#held + delta, false);
  }

  /**
   * Gives the text that was held back at the end. A tag that was never closed counts to the end.
   */
  end(): void {
    this.#read(this.#held, true);
  }

  #read(text: string, isEnd: boolean): void {
    this.#held = '';
    let from = 0;
    let at = 0;
    for (;;) {
      at = text.indexOf('<', at);
      if (at < 0) break;
      const quoted = (at > 0 ? text[at - 1] : this.#last) === '`';
      const tag = this.#tagAt(text, at, quoted);
      if (tag === 'partial' && !isEnd) {
        this.#giveWithSpace(text.slice(from, at), false);
        this.#held += text.slice(at);
        return;
      }
      if (typeof tag !== 'number') {
        at++;
        continue;
      }
      this.#giveBeforeTag(text.slice(from, at));
      this.#isInside = text[at + 1] !== '/';
      this.#isFirst = false;
      this.#trims = true;
      this.#last = '>';
      at += tag;
      from = at;
    }
    this.#giveWithSpace(text.slice(from), isEnd);
  }

  /** The length of the tag at a place, if one is there. */
  #tagAt(text: string, at: number, quoted: boolean): number | 'partial' | undefined {
    const candidate = text.slice(at, at + this.#longest).toLowerCase();
    let isPartial = false;
    for (const tag of this.#isInside ? this.#closing : [...this.#opening, ...this.#closing]) {
      // An answer that speaks of such a tag; a thought may end with a quoted word.
      if (quoted && !this.#isInside) continue;
      if (candidate.startsWith(tag)) return tag.length;
      if (tag.startsWith(candidate)) isPartial = true;
    }
    return isPartial ? 'partial' : undefined;
  }

  /** White space before the first tag is no text. */
  #giveBeforeTag(text: string): void {
    if (!(this.#isFirst && text.trimStart() === '')) this.#giveWithSpace(text, true);
  }

  #giveWithSpace(text: string, isEnd: boolean): void {
    if (this.#trims) this.#give(text.trimStart());
    else if (this.#isFirst && !isEnd && text.trimStart() === '') this.#held = text;
    else this.#give(text);
  }

  #give(text: string): void {
    if (text === '') return;
    this.#trims = false;
    this.#isFirst = false;
    this.#last = text.at(-1) ?? '';
    this.#sink(text, this.#isInside);
  }
}
