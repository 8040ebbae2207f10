import type { Tokens } from 'marked';
import { type Line, type Span, textOfLine } from '../spans.ts';
import { displayWidth } from '../width.ts';
import { wrapLine } from '../wrap.ts';
import { inlineSpans, type LinkOptions } from './inline.ts';

const gap = 2;

interface Sizes {
  /** Columns of a table. */
  readonly width: number;
  /** Columns of prose. */
  readonly prose: number;
}

/** Returns a table in columns; one that is too wide is a list of `key: value` for each row. */
export function tableLines(table: Tokens.Table, sizes: Sizes, options: LinkOptions): Line[] {
  const spansOfCell = (cell: Tokens.TableCell): Span[] =>
    inlineSpans(cell.tokens, options).map((span) => ({
      ...span,
      text: span.text.replaceAll('\n', ' '),
    }));
  const head = table.header.map((cell) =>
    spansOfCell(cell).map((span) => ({ ...span, bold: true })),
  );
  const rows = table.rows.map((row) => row.map(spansOfCell));
  const widths = head.map((cell, column) =>
    [cell, ...rows.map((row) => row[column] ?? [])].reduce(
      (most, each) => Math.max(most, widthOf(each)),
      0,
    ),
  );
  const whole = widths.reduce((sum, width) => sum + width, gap * (widths.length - 1));
  if (whole > sizes.width) return rows.flatMap((row, at) => listLines(head, row, sizes, at > 0));
  return [head, ...rows].map((row) => rowLine(row, widths, table.align));
}

function widthOf(cell: Line): number {
  return displayWidth(textOfLine(cell));
}

function rowLine(
  row: readonly Span[][],
  widths: readonly number[],
  align: Tokens.Table['align'],
): Line {
  return widths.flatMap((width, column) => {
    const cell = row[column] ?? [];
    const room = width - widthOf(cell);
    const how = align[column];
    const before = how === 'right' ? room : how === 'center' ? Math.floor(room / 2) : 0;
    const isLast = column === widths.length - 1;
    const after = isLast ? 0 : room - before + gap;
    return [...blanks(before), ...cell, ...blanks(after)];
  });
}

function blanks(count: number): Span[] {
  return count > 0 ? [{ text: ' '.repeat(count) }] : [];
}

function listLines(
  head: readonly Span[][],
  row: readonly Span[][],
  { width, prose }: Sizes,
  isFurther: boolean,
): Line[] {
  const lines = head.flatMap((key, column) =>
    wrapLine(
      [...key, { text: ': ', bold: true }, ...(row[column] ?? [])],
      Math.min(width, prose),
      2,
    ),
  );
  return isFurther ? [[], ...lines] : lines;
}
