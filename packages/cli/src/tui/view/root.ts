import { Box, Static, Text, useCursor } from 'ink';
import { createElement, type ReactElement, type ReactNode, useSyncExternalStore } from 'react';
import type { Printed } from '../app/control.ts';
import type { TerminalApp } from '../app/terminal-app.ts';
import { fitted, type Space } from '../screens/layout.ts';
import { liveRegion } from '../screens/live-region.ts';
import type { Screen } from '../screens/live-view.ts';
import { withAsciiSigns } from '../text/signs.ts';
import { type Line, textOfLine } from '../text/spans.ts';
import { displayWidth } from '../text/width.ts';
import { ansiText } from './ansi.ts';

export interface RootProps {
  readonly app: TerminalApp;
  readonly screen: () => Screen;
  readonly hasColours: boolean;
  /** Number of the first part that is not on the screen yet. */
  readonly firstPrinted: number;
  /** Subscribes to changes, at most one in each frame. */
  readonly subscribe: (listener: () => void) => () => void;
  readonly version: () => number;
  /** Called with the live lines of a frame, which has all that is printed, too. */
  readonly onPainted: (lines: readonly Line[]) => void;
}

/** The app on the screen: what is printed once, and below it the live region. */
export function Root(props: RootProps): ReactElement {
  const { app, screen, hasColours, firstPrinted, subscribe, version, onPainted } = props;
  useSyncExternalStore(subscribe, version);
  const { setCursorPosition } = useCursor();
  const space = screen();
  const view = app.view();
  const { lines, cursor, card } = liveRegion(view, space);
  onPainted(lines);
  if (card !== undefined) view.card?.onShown?.(card);
  setCursorPosition(cursor);
  const print = (part: Printed): ReactElement => {
    const text = ansiText(nonEmpty(shownLines(part.lines(space), space)), hasColours);
    return createElement(Text, { key: part.key, wrap: 'truncate' }, text);
  };
  // The types of `createElement` do not know a function as a child.
  const children = print as unknown as ReactNode & typeof print;
  const items = [...app.printed.slice(firstPrinted)];
  const printed = createElement(Static<Printed>, { items, ...{ children } });
  const live = linesOnScreen(shownLines(lines, space), hasColours);
  return createElement(Box, { flexDirection: 'column' }, printed, live);
}

/** Returns lines with the signs that the terminal can show. */
export function shownLines(lines: readonly Line[], space: Space): readonly Line[] {
  if (!space.ascii) return lines;
  const ascii = lines.map((line) =>
    line.map((span) => ({ ...span, text: withAsciiSigns(span.text) })),
  );
  return fitted(
    ascii.map((line) => narrowed(line, space.columns - 1)),
    space,
  );
}

/** Takes the room for wider signs from the blanks before the facts at the right. */
function narrowed(line: Line, width: number): Line {
  const excess = displayWidth(textOfLine(line)) - width;
  if (excess <= 0) return line;
  const room = ' '.repeat(excess + 2);
  const at = line.findLastIndex(({ text }) => text.includes(room));
  return line.map((span, place) =>
    place === at ? { ...span, text: span.text.replace(room, '  ') } : span,
  );
}

/** Lines below one another, each of one row. */
export function linesOnScreen(lines: readonly Line[], hasColours: boolean): ReactElement {
  const rows = lines.map((line, at) =>
    createElement(Text, { key: at, wrap: 'truncate' }, ansiText(nonEmpty([line]), hasColours)),
  );
  return createElement(Box, { flexDirection: 'column' }, ...rows);
}

/** Lines of which none is empty: Ink gives an empty text no row. */
function nonEmpty(lines: readonly Line[]): readonly Line[] {
  return lines.map((line) => (line.some(({ text }) => text !== '') ? line : [{ text: ' ' }]));
}
