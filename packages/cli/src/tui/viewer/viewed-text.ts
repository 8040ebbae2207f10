import type { TextSearch } from '../full-screen/text-search.ts';
import type { Space } from '../screens/layout.ts';
import { sign } from '../text/signs.ts';
import { type Line, spansOf } from '../text/spans.ts';
import { visible } from '../text/visible.ts';
import { cutLine, wrapLine } from '../text/wrap.ts';

/** Place of a row of the screen: the line of the text, and the part of it. */
export interface TextRow {
  readonly line: number;
  readonly part: number;
}

/**
 * A text in lines with their numbers. A row costs as much as its line: only wrapping measures
 * every line, once for a width.
 */
export class ViewedText {
  readonly whole: string;
  readonly #lines: readonly string[];
  /** Number of the first row of each line, for the width below. */
  #firstRows: number[] = [];
  #width = 0;

  constructor(whole: string) {
    this.whole = whole;
    this.#lines = whole.replace(/\n$/, '').split('\n');
  }

  get lineCount(): number {
    return this.#lines.length;
  }

  rowCount(space: Space, wraps: boolean): number {
    if (!wraps) return this.lineCount;
    this.#measure(space);
    const last = this.lineCount - 1;
    return (this.#firstRows[last] ?? 0) + this.#parts(last, space).length;
  }

  /** The line and the part of it that stand in a row. */
  rowAt(row: number, space: Space, wraps: boolean): TextRow {
    const last = this.lineCount - 1;
    if (!wraps) return { line: Math.max(0, Math.min(row, last)), part: 0 };
    this.#measure(space);
    let low = 0;
    let high = this.lineCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#firstRows[middle] ?? 0) <= row) low = middle + 1;
      else high = middle;
    }
    const line = Math.max(0, low - 1);
    return { line, part: Math.max(0, row - (this.#firstRows[line] ?? 0)) };
  }

  rowOfLine(line: number, space: Space, wraps: boolean): number {
    if (!wraps) return line;
    this.#measure(space);
    return this.#firstRows[line] ?? 0;
  }

  /** The rows from one on, at most so many. */
  rows(from: number, count: number, space: Space, wraps: boolean): Line[] {
    const shown: Line[] = [];
    let { line, part } = this.rowAt(from, space, wraps);
    while (shown.length < count && line < this.lineCount) {
      const parts = wraps ? this.#parts(line, space) : [this.#cut(line, space)];
      for (; part < parts.length && shown.length < count; part++)
        shown.push([this.#number(part === 0 ? line : undefined), ...(parts[part] ?? [])]);
      line++;
      part = 0;
    }
    return shown;
  }

  /** The next line, or the one before, that has what is searched; past the ends it goes round. */
  find(search: TextSearch, from: number, by: 1 | -1): number | undefined {
    const count = this.lineCount;
    for (let step = 1; step <= count; step++) {
      const line = (((from + by * step) % count) + count) % count;
      if (search.isIn(this.#lines[line] ?? '')) return line;
    }
    return undefined;
  }

  get #numberWidth(): number {
    return Math.max(5, String(this.lineCount).length + 1);
  }

  #number(line: number | undefined): Line[number] {
    const text = line === undefined ? '' : String(line + 1);
    return { text: `${text.padStart(this.#numberWidth)} `, dim: true };
  }

  #room({ columns }: Space): number {
    return Math.max(1, columns - this.#numberWidth - 2);
  }

  #spans(line: number): Line {
    return spansOf(visible(this.#lines[line] ?? '', 'output').pieces);
  }

  #cut(line: number, space: Space): Line {
    return cutLine(this.#spans(line), this.#room(space), sign('ellipsis', space.ascii));
  }

  #parts(line: number, space: Space): Line[] {
    return wrapLine(this.#spans(line), this.#room(space));
  }

  #measure(space: Space): void {
    const width = this.#room(space);
    if (this.#width === width) return;
    this.#width = width;
    let row = 0;
    this.#firstRows = this.#lines.map((_, line) => {
      const first = row;
      row += this.#parts(line, space).length;
      return first;
    });
  }
}
