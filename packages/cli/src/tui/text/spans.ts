import type { Piece } from './visible.ts';

/** The colours that the terminal app uses: of the sixteen, these. */
export type Color = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

/** Look of a text; without a property it is the terminal's own. */
export interface Look {
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  readonly color?: Color;
  /** Target of a link that the terminal opens (OSC 8); its text has been checked. */
  readonly link?: string;
}

/** Text with one look. It is ready to be shown: `visible` has seen all that came from outside. */
export interface Span extends Look {
  readonly text: string;
}

/** One line of the screen. */
export type Line = readonly Span[];

/** Returns the spans of a visible text: escapes are yellow, and signs of line breaks are dim. */
export function spansOf(pieces: readonly Piece[], look: Look = {}): Span[] {
  return pieces.map(({ text, mark }) => {
    if (mark === 'escape') return { ...look, color: 'yellow', text };
    return mark === 'break' ? { ...look, dim: true, text } : { ...look, text };
  });
}

/** Returns the text of a line without its looks. */
export function textOfLine(line: Line): string {
  return line.map(({ text }) => text).join('');
}

/** Returns the part of a line between two offsets of its text. */
export function sliceLine(line: Line, start: number, end: number): Span[] {
  const parts: Span[] = [];
  let at = 0;
  for (const span of line) {
    const text = span.text.slice(Math.max(0, start - at), Math.max(0, end - at));
    if (text !== '') parts.push({ ...span, text });
    at += span.text.length;
    if (at >= end) break;
  }
  return parts;
}

/** Returns a line with as few spans as its looks need. */
export function joinSpans(line: Line): Span[] {
  const joined: Span[] = [];
  for (const span of line) {
    const last = joined.at(-1);
    if (last !== undefined && lookOf(last) === lookOf(span))
      joined[joined.length - 1] = { ...last, text: last.text + span.text };
    else joined.push(span);
  }
  return joined;
}

function lookOf(span: Span): string {
  const { text: _, ...look } = span;
  return JSON.stringify(look);
}

/** Returns the lines of spans whose texts have line breaks. */
export function splitLines(spans: readonly Span[]): Span[][] {
  const lines: Span[][] = [[]];
  for (const span of spans)
    for (const [at, text] of span.text.split('\n').entries()) {
      if (at > 0) lines.push([]);
      if (text !== '') lines.at(-1)?.push({ ...span, text });
    }
  return lines;
}
