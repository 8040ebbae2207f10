import type { IBufferCell, Terminal } from '@xterm/headless';

/** A character of the screen with its look. */
export interface Cell {
  readonly text: string;
  /** Columns that it takes: 0 for the second half of a wide character. */
  readonly width: number;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly inverse: boolean;
  /** Number of the colour, from 0 to 15. `undefined`: the default colour. */
  readonly colour: number | undefined;
}

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  /** Lines of the visible part, without blanks at their ends. */
  readonly lines: readonly string[];
  /** Lines of the scrollback and the visible part. */
  readonly allLines: readonly string[];
  readonly text: string;
  readonly whole: string;
  /** Place of the cursor, counted from 0. */
  readonly cursor: { readonly column: number; readonly row: number };
  /** True when the alternate screen is shown. */
  readonly isAlternate: boolean;
  /** Number of the first line of the visible part in `allLines`. */
  readonly top: number;
  /** The cells of a line of `allLines`. */
  cells(line: number): readonly Cell[];
}

/** Reads the screen of a terminal. Cells are read when they are asked for. */
export function screenOf(terminal: Terminal): Screen {
  const { active } = terminal.buffer;
  const textOf = (index: number): string => active.getLine(index)?.translateToString(true) ?? '';
  const allLines = Array.from({ length: active.length }, (_, index) => textOf(index));
  const lines = allLines.slice(active.baseY, active.baseY + terminal.rows);
  return {
    columns: terminal.cols,
    rows: terminal.rows,
    lines,
    allLines,
    text: lines.join('\n'),
    whole: allLines.join('\n'),
    cursor: { column: active.cursorX, row: active.cursorY },
    isAlternate: active.type === 'alternate',
    top: active.baseY,
    cells: (index) => cellsOf(terminal, index),
  };
}

function cellsOf(terminal: Terminal, index: number): readonly Cell[] {
  const line = terminal.buffer.active.getLine(index);
  if (line === undefined) return [];
  return Array.from({ length: terminal.cols }, (_, column) => {
    const cell = line.getCell(column) as IBufferCell;
    return {
      text: cell.getChars(),
      width: cell.getWidth(),
      bold: cell.isBold() !== 0,
      dim: cell.isDim() !== 0,
      inverse: cell.isInverse() !== 0,
      colour: cell.isFgPalette() ? cell.getFgColor() : undefined,
    };
  });
}
