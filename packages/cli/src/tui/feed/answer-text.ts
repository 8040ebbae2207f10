/** A whole part of an answer. */
export interface AnswerPart {
  readonly markdown: string;
  /** True for the rest of a part that was too long to wait for its end. */
  readonly isContinued: boolean;
}

/** Lines of a code block, a list or a table that are kept before they are given out in parts. */
const longestPart = 60;

/**
 * The text of an answer while it is streamed. Parts of it are given out as soon as the next one has
 * begun: from then on nothing in them changes.
 */
export class AnswerText {
  #all = '';
  /** Whole lines that have not been given out. */
  #lines: string[] = [];
  /** The line that is being written. */
  #last = '';
  /** Opening line of the code block that the text is in. */
  #fence: string | undefined;
  #isContinued = false;

  /** Everything that was streamed. */
  get all(): string {
    return this.#all;
  }

  /** The part that is being written. */
  get open(): string {
    return [...this.#lines, this.#last].join('\n');
  }

  /** True when parts of it were given out. */
  get isBegun(): boolean {
    return this.open.length < this.#all.length;
  }

  /** Takes the next piece, and returns the parts that are whole now. */
  push(piece: string): AnswerPart[] {
    this.#all += piece;
    const [first = '', ...rest] = piece.split('\n');
    this.#last += first;
    return rest.flatMap((text) => {
      const parts = this.#line(this.#last);
      this.#last = text;
      return parts;
    });
  }

  /** Ends the text, and returns what is left of it. */
  end(): AnswerPart[] {
    const lines = [...this.#lines, this.#last];
    this.#lines = [];
    this.#last = '';
    this.#fence = undefined;
    return this.#part(lines);
  }

  #line(line: string): AnswerPart[] {
    const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (this.#fence !== undefined) return this.#codeLine(line, fence);
    if (fence !== undefined) {
      const before = this.#take();
      this.#fence = line;
      this.#lines = [line];
      return before;
    }
    const parts = this.#begins(line) ? this.#take() : [];
    this.#lines.push(line);
    return parts;
  }

  #codeLine(line: string, fence: string | undefined): AnswerPart[] {
    this.#lines.push(line);
    const opening = /(`{3,}|~{3,})/.exec(this.#fence ?? '')?.[1] ?? '';
    const closes = fence?.startsWith(opening) === true && line.trim() === fence;
    if (closes) {
      this.#fence = undefined;
      return this.#take();
    }
    if (this.#lines.length <= longestPart) return [];
    const parts = this.#part([...this.#lines, opening]);
    this.#lines = [this.#fence ?? opening];
    this.#isContinued = true;
    return parts;
  }

  /** True when a line begins a part: it stands behind an empty one, and goes on with no list. */
  #begins(line: string): boolean {
    const before = this.#lines.at(-1);
    if (before === undefined || before.trim() !== '' || line.trim() === '') return false;
    const isOfList = /^(\s|[-*+] |\d+[.)] )/.test(line);
    return !isOfList || this.#lines.length > longestPart;
  }

  #take(): AnswerPart[] {
    const lines = this.#lines;
    this.#lines = [];
    return this.#part(lines);
  }

  #part(lines: readonly string[]): AnswerPart[] {
    const isContinued = this.#isContinued;
    this.#isContinued = false;
    const markdown = lines.join('\n').replace(/^\s*\n|\s+$/g, '');
    return markdown.trim() === '' ? [] : [{ markdown, isContinued }];
  }
}
