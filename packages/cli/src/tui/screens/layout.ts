import type { Tone } from '../feed/block.ts';
import { type SignName, sign } from '../text/signs.ts';
import type { Color, Line, Look, Span } from '../text/spans.ts';
import { spansOf, textOfLine } from '../text/spans.ts';
import { type Place, visible } from '../text/visible.ts';
import { displayWidth } from '../text/width.ts';
import { cutLine } from '../text/wrap.ts';

/** The room for lines, and the signs that its terminal can show. */
export interface Space {
  readonly columns: number;
  readonly ascii: boolean;
}

/** Columns of the gutter, which holds the sign of a line. */
export const gutter = 2;
const widestProse = 100;
/** Columns of a line that stay for its left part, however many facts stand at its right. */
const leastLeft = 24;

/** Columns for content: without the gutter, and without the last column. */
export function contentWidth({ columns }: Space): number {
  return Math.max(1, columns - gutter - 1);
}

/** Columns for prose, which nobody reads well in longer lines. */
export function proseWidth(space: Space): number {
  return Math.min(contentWidth(space), widestProse);
}

export const accent: Color = 'magenta';
const colours: Readonly<Record<Tone, Color | undefined>> = {
  success: 'green',
  failure: 'red',
  attention: 'yellow',
  plain: undefined,
};

/** The look of a tone. */
export function toned(tone: Tone): Look {
  const color = colours[tone];
  return color === undefined ? {} : { color };
}

/** The sign of a line with the blanks of its gutter. */
export function gutterSign(name: SignName, look: Look, { ascii }: Space): Span {
  const shown = sign(name, ascii);
  return { ...look, text: shown.padEnd(Math.max(gutter, shown.length + 1)) };
}

export const emptyGutter: Span = { text: ' '.repeat(gutter) };

/** Spans of a text from outside, as it may be shown in one line. */
export function lineSpans(text: string, look: Look = {}, place: Place = 'proseLine'): Span[] {
  return spansOf(visible(text, place).pieces, look);
}

/** Facts at the right end of a line. The first ones are left out where there is no room. */
export interface RightFacts {
  readonly facts: readonly string[];
  readonly seq?: number | undefined;
  /** Columns of the left part that stay. @default 24 */
  readonly least?: number | undefined;
}

/** Returns a line with facts at its right end, no wider than the space. */
export function spread(
  left: Line,
  { facts, seq, least = leastLeft }: RightFacts,
  { columns, ascii }: Space,
): Line {
  const width = Math.max(1, columns - 1);
  const leftWidth = displayWidth(textOfLine(left));
  const kept = [...facts];
  const place = seq === undefined ? '' : `#${seq}`;
  const rightText = (): string =>
    [kept.join(' · '), place].filter((text) => text !== '').join('  ');
  const fits = (): boolean => displayWidth(rightText()) + 2 + Math.min(leftWidth, least) <= width;
  while (kept.length > 0 && !fits()) kept.shift();
  const right = fits() ? rightText() : '';
  if (right === '') return cutLine(left, width, sign('ellipsis', ascii));
  const rightWidth = displayWidth(right);
  const shown = cutLine(left, width - rightWidth - 2, sign('ellipsis', ascii));
  const blanks = width - rightWidth - displayWidth(textOfLine(shown));
  return [...shown, { text: `${' '.repeat(Math.max(2, blanks))}${right}`, dim: true }];
}

/** Cuts lines to the space. */
export function fitted(lines: readonly Line[], { columns, ascii }: Space): Line[] {
  return lines.map((line) => cutLine(line, Math.max(1, columns - 1), sign('ellipsis', ascii)));
}
