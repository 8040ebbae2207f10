import { sign } from '../text/signs.ts';
import type { Line } from '../text/spans.ts';
import { emptyGutter } from './layout.ts';
import type { Card, CardPart, Screen } from './live-view.ts';

export interface CardLines {
  readonly lines: readonly Line[];
  readonly part: CardPart;
  readonly cursor?: { readonly x: number; readonly y: number };
}

/** Returns the lines of a request. Its body scrolls where it is higher than its room. */
export function cardLines(card: Card, screen: Screen, height: number): CardLines {
  const { title, body, keys, cursor, wasSeen = false } = card;
  const keysBelow = (unseen: number): Line => [emptyGutter, ...keys(wasSeen ? 0 : unseen)];
  if (height < 3) {
    const part = { top: card.top, hasEnd: false };
    return { lines: [title, keysBelow(body.length)].slice(0, height), part };
  }
  const room = height - 2;
  const isWhole = body.length <= room;
  const shownRows = isWhole ? room : room - 1;
  const first = isWhole
    ? 0
    : Math.max(0, Math.min(topOf(card, shownRows), body.length - shownRows));
  const shown = body.slice(first, first + shownRows);
  const hidden = body.length - first - shown.length;
  const dots = sign('ellipsis', screen.ascii);
  const more: Line[] = isWhole
    ? []
    : [[emptyGutter, { text: `${dots} ${first} above, ${hidden} below · PgUp PgDn`, dim: true }]];
  const lines = [title, ...shown, ...more, keysBelow(hidden)];
  const part = { top: first, hasEnd: hidden === 0 };
  if (cursor === undefined || cursor.row < first || cursor.row >= first + shown.length)
    return { lines, part };
  return { lines, part, cursor: { x: cursor.column, y: 1 + cursor.row - first } };
}

/** Number of the first line that is shown, so that a marked line is among them. */
function topOf({ top, marked = top }: Card, rows: number): number {
  return Math.max(Math.min(top, marked), marked - rows + 1);
}
