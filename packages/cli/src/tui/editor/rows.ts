import { joinSpans, type Line, type Span, spansOf } from '../text/spans.ts';
import { displayWidth } from '../text/width.ts';
import { cutLine } from '../text/wrap.ts';
import { type Atom, isBlank, isBreak, isPlain, shownPieces } from './atoms.ts';
import type { Editor } from './editor.ts';
import { placeCursor } from './edits.ts';

/** The rows of an editor that are painted. */
export interface EditorRows {
  readonly rows: readonly Line[];
  /** Place of the cursor among the rows; its column may be the one behind the width. */
  readonly cursor: { readonly row: number; readonly column: number };
  /** Numbers of rows that do not fit, above and below. */
  readonly above: number;
  readonly below: number;
}

/**
 * Returns the rows of an editor for a width, wrapped at words, and of these as many as the height
 * takes, with the cursor among them. With a mask each character is shown as that sign.
 */
export function rows(editor: Editor, columns: number, height: number, mask?: string): EditorRows {
  const width = Math.max(2, columns);
  const layout = layOut(editor, width, mask);
  const row = rowOf(layout, editor.cursor);
  const most = Math.max(1, height);
  const first = Math.max(0, Math.min(row - Math.floor(most / 2), layout.rows.length - most));
  const shown = layout.rows.slice(first, first + most);
  return {
    rows: shown.map((each) => lineOf(layout, each, width)),
    cursor: { row: row - first, column: Math.min(width, columnOf(layout, row, editor.cursor)) },
    above: first,
    below: layout.rows.length - first - shown.length,
  };
}

/**
 * Moves the cursor a row up or down and keeps its column. `undefined`: it stands in the first or
 * the last row already.
 */
export function moveRow(editor: Editor, by: 1 | -1, width: number): Editor | undefined {
  const layout = layOut(editor, Math.max(2, width));
  const row = rowOf(layout, editor.cursor);
  const next = layout.rows[row + by];
  if (next === undefined) return undefined;
  const goal = editor.goal ?? columnOf(layout, row, editor.cursor);
  const isLast = isBreak(editor.atoms[next.end]) || next.end === editor.atoms.length;
  const furthest = isLast ? next.end : Math.max(next.start, next.end - 1);
  let place = next.start;
  for (let used = 0; place < furthest; place++) {
    used += layout.cells[place]?.width ?? 0;
    if (used > goal) break;
  }
  return { ...placeCursor(editor, place), goal };
}

interface Cell {
  readonly line: Line;
  readonly width: number;
}

interface Row {
  readonly start: number;
  /** Place behind the last atom of the row; a line break there belongs to no row. */
  readonly end: number;
}

interface Layout {
  readonly cells: readonly Cell[];
  readonly rows: readonly Row[];
}

function layOut({ atoms }: Editor, width: number, mask?: string): Layout {
  const cells = atoms.map((atom, at) => cellOf(atom, atoms[at + 1], width, mask));
  const found: Row[] = [];
  let start = 0;
  for (let at = 0; at <= atoms.length; at++)
    if (at === atoms.length || isBreak(atoms[at])) {
      found.push(...rowsOfLine(atoms, cells, start, at, width));
      start = at + 1;
    }
  return { cells, rows: found };
}

/** Rows of one line. Blanks stay in the row that they end, behind its last column too. */
function rowsOfLine(
  atoms: readonly Atom[],
  cells: readonly Cell[],
  start: number,
  end: number,
  width: number,
): Row[] {
  const found: Row[] = [];
  let from = start;
  let used = 0;
  /** Place behind the last blank of the row, where it is broken. */
  let breakable = start;
  for (let at = start; at < end; at++) {
    const cell = (cells[at] as Cell).width;
    if (used + cell > width && at > from && !isBlank(atoms[at])) {
      const next = breakable > from ? breakable : at;
      found.push({ start: from, end: next });
      used = sumWidths(cells, next, at);
      from = next;
    }
    used += cell;
    if (isBlank(atoms[at])) breakable = at + 1;
  }
  return [...found, { start: from, end }];
}

/** Spans of a row, without the blanks behind its last column. */
function lineOf({ cells }: Layout, { start, end }: Row, width: number): Line {
  let used = 0;
  const spans = cells.slice(start, end).flatMap((cell) => {
    used += cell.width;
    return used > width ? [] : cell.line;
  });
  return joinSpans(spans);
}

function sumWidths(cells: readonly Cell[], start: number, end: number): number {
  return cells.slice(start, end).reduce((sum, { width }) => sum + width, 0);
}

const breakCell: Cell = { line: [], width: 0 };
const plainCells: readonly Cell[] = Array.from({ length: 0x5f }, (_, at) => ({
  line: [{ text: String.fromCharCode(0x20 + at) }],
  width: 1,
}));

function cellOf(atom: Atom, next: Atom | undefined, width: number, mask?: string): Cell {
  if (isBreak(atom)) return breakCell;
  const plain =
    mask === undefined && isPlain(atom) ? plainCells[atom.charCodeAt(0) - 0x20] : undefined;
  if (plain !== undefined) return plain;
  const isPiece = typeof atom !== 'string' && atom.kind !== 'slash';
  const spans: Span[] =
    mask === undefined
      ? spansOf(shownPieces(atom, next), isPiece ? { dim: true } : {})
      : [{ text: mask }];
  const line = cutLine(spans, width);
  return { line, width: line.reduce((sum, { text }) => sum + displayWidth(text), 0) };
}

function rowOf({ rows: all }: Layout, cursor: number): number {
  return Math.max(
    0,
    all.findLastIndex(({ start }) => start <= cursor),
  );
}

function columnOf({ cells, rows: all }: Layout, row: number, cursor: number): number {
  return sumWidths(cells, all[row]?.start ?? 0, cursor);
}
