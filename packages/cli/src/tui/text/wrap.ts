import { type Line, type Span, sliceLine, textOfLine } from './spans.ts';
import { displayWidth, eachGrapheme, type Grapheme } from './width.ts';

/**
 * Wraps a line at words; a word that is wider than the line is broken. Blanks at the place of a
 * break are left out. Wide characters, which are written without blanks, may be parted anywhere.
 * Each line behind the first is indented by `indent` columns.
 */
export function wrapLine(line: Line, width: number, indent = 0): Line[] {
  const text = textOfLine(line);
  if (displayWidth(text) <= width) return [line];
  return wrapRanges(text, width, indent).map(([start, end], at) => {
    const part = sliceLine(line, start, end);
    return at === 0 || indent === 0 ? part : [{ text: ' '.repeat(indent) }, ...part];
  });
}

/** Returns the lines of a text without looks, wrapped at words. */
export function wrapText(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine([{ text: line }], width).map(textOfLine));
}

type Range = readonly [start: number, end: number];

/** Returns the parts of a text that fit the width, each from its first character to its last. */
function wrapRanges(text: string, width: number, indent = 0): Range[] {
  const wrapping = new Wrapping(Math.max(1, width), indent);
  for (const word of words(text)) wrapping.add(word);
  return wrapping.end();
}

interface Word {
  readonly graphemes: readonly Grapheme[];
  readonly width: number;
  readonly isBlank: boolean;
}

/** Parts a text into words, blanks between them, and single wide characters. */
function* words(text: string): Generator<Word> {
  let word: Grapheme[] = [];
  const isBlank = ({ text: character }: Grapheme): boolean => character === ' ';
  const taken = (): Word => {
    const width = word.reduce((sum, grapheme) => sum + grapheme.width, 0);
    return { graphemes: word, width, isBlank: word.every(isBlank) };
  };
  for (const grapheme of eachGrapheme(text)) {
    const [first] = word;
    const goesOn =
      first === undefined ||
      (isBlank(first) === isBlank(grapheme) && first.width < 2 && grapheme.width < 2);
    if (!goesOn) {
      yield taken();
      word = [];
    }
    word.push(grapheme);
  }
  if (word.length > 0) yield taken();
}

/** Lines that grow word by word. */
class Wrapping {
  readonly #lines: Range[] = [];
  readonly #width: number;
  readonly #indent: number;
  /** Offsets of the current line: where it begins, and where its last word ends. */
  #start = 0;
  #end = 0;
  /** Offset behind all that was read, and the columns of the line up to there. */
  #at = 0;
  #used = 0;

  constructor(width: number, indent: number) {
    this.#width = width;
    this.#indent = Math.max(0, Math.min(indent, width - 1));
  }

  add(word: Word): void {
    const isIndentation = word.isBlank && this.#at === 0;
    if (word.isBlank && !isIndentation) this.#skip(word);
    else this.#put(word);
  }

  end(): Range[] {
    return [...this.#lines, [this.#start, this.#end]];
  }

  #put(word: Word): void {
    if (this.#used + word.width > this.#width && this.#end > this.#start) this.#break();
    for (const grapheme of word.graphemes) {
      if (this.#used + grapheme.width > this.#width && this.#end > this.#start) this.#break();
      this.#at += grapheme.text.length;
      this.#used += grapheme.width;
      this.#end = this.#at;
    }
  }

  /** Blanks count when a word follows them on the same line. */
  #skip({ graphemes, width }: Word): void {
    this.#at += graphemes.length;
    this.#used += width;
  }

  #break(): void {
    this.#lines.push([this.#start, this.#end]);
    this.#start = this.#at;
    this.#end = this.#at;
    this.#used = this.#indent;
  }
}

/** Cuts a text to a width; the last column says that it was cut. */
export function cutText(text: string, width: number, ellipsis = '…'): string {
  if (displayWidth(text) <= width) return text;
  return text.slice(0, headEnd(text, width - displayWidth(ellipsis))) + fitting(ellipsis, width);
}

/** Cuts a line to a width; the sign of the cut has the look of what stands before it. */
export function cutLine(line: Line, width: number, ellipsis = '…'): Line {
  const text = textOfLine(line);
  if (displayWidth(text) <= width) return line;
  const kept = sliceLine(line, 0, headEnd(text, width - displayWidth(ellipsis)));
  const { link: _, ...look }: Span = kept.at(-1) ?? line[0] ?? { text: '' };
  return [...kept, { ...look, text: fitting(ellipsis, width) }];
}

/** Cuts a text in its middle, for paths and identifiers, whose ends say most. */
export function cutMiddle(text: string, width: number, ellipsis = '…'): string {
  if (displayWidth(text) <= width) return text;
  const left = Math.max(0, width - displayWidth(ellipsis));
  const tail = Math.floor(left / 2);
  const head = text.slice(0, headEnd(text, left - tail));
  return head + fitting(ellipsis, width) + text.slice(tailStart(text, tail));
}

const longestLine = 2_000;
const keptHead = 1_500;
const keptTail = 300;

/** Units of a text within which the last columns of a line surely lie. */
const tailUnits = 20 * keptTail;

/** Cuts what lies in the middle of a line of thousands of columns, and says how much it is. */
export function cutLongLine(line: Line): Line {
  const text = textOfLine(line);
  if (text.length <= longestLine / 2 || headEnd(text, longestLine) === text.length) return line;
  const head = headEnd(text, keptHead);
  const start = Math.max(0, text.length - tailUnits);
  const tail = Math.max(head, start + tailStart(text.slice(start), keptTail));
  const count = text.slice(head, tail).match(/\P{M}/gu)?.length ?? 0;
  const notice = { text: `… ${count.toLocaleString('en-US')} characters …`, dim: true };
  return [...sliceLine(line, 0, head), notice, ...sliceLine(line, tail, text.length)];
}

function fitting(ellipsis: string, width: number): string {
  return ellipsis.slice(0, headEnd(ellipsis, width));
}

/** Offset behind the last character that fits the width. */
function headEnd(text: string, width: number): number {
  let end = 0;
  let used = 0;
  for (const grapheme of eachGrapheme(text)) {
    used += grapheme.width;
    if (used > width) break;
    end += grapheme.text.length;
  }
  return end;
}

/** Offset of the first character of those at the end that fit the width. */
function tailStart(text: string, width: number): number {
  let start = text.length;
  let used = 0;
  for (const grapheme of [...eachGrapheme(text)].reverse()) {
    used += grapheme.width;
    if (used > width) break;
    start -= grapheme.text.length;
  }
  return start;
}
