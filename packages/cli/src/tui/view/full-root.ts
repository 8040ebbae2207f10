import { useCursor } from 'ink';
import { type ReactElement, useSyncExternalStore } from 'react';
import { linesOnScreen, type RootProps, shownLines } from './root.ts';

/** Rows that stay free: a frame as high as the screen would be painted anew each time. */
const freeRows = 1;

/** The view that has the whole screen. */
export function FullRoot(props: Omit<RootProps, 'firstPrinted' | 'onPainted'>): ReactElement {
  const { app, screen, hasColours, subscribe, version } = props;
  useSyncExternalStore(subscribe, version);
  useCursor().setCursorPosition(undefined);
  const space = screen();
  const lines = app.full?.lines(space) ?? [];
  return linesOnScreen(shownLines(lines.slice(0, space.rows - freeRows), space), hasColours);
}
