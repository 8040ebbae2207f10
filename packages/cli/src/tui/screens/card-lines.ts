import { sign } from '../text/signs.ts';
import type { Line } from '../text/spans.ts';
import { emptyGutter } from './layout.ts';
import type { Card, Screen } from './live-view.ts';

/** Returns the lines of a request. Its body scrolls where it is higher than its room. */
export function cardLines(
  { title, body, top, keys, cursor }: Card,
  screen: Screen,
  height: number,
): {
  readonly lines: readonly Line[];
  readonly cursor?: { readonly x: number; readonly y: number };
} {
  if (height < 3) return { lines: [title, [emptyGutter, ...keys(body.length)]].slice(0, height) };
  const room = height - 2;
  const isWhole = body.length <= room;
  const shownRows = isWhole ? room : room - 1;
  const first = isWhole ? 0 : Math.max(0, Math.min(top, body.length - shownRows));
  const shown = body.slice(first, first + shownRows);
  const hidden = body.length - first - shown.length;
  const dots = sign('ellipsis', screen.ascii);
  const more: Line[] = isWhole
    ? []
    : [[emptyGutter, { text: `${dots} ${first} above, ${hidden} below · PgUp PgDn`, dim: true }]];
  const lines = [title, ...shown, ...more, [emptyGutter, ...keys(hidden)]];
  if (cursor === undefined || cursor.row < first || cursor.row >= first + shown.length)
    return { lines };
  return { lines, cursor: { x: cursor.column, y: 1 + cursor.row - first } };
}
