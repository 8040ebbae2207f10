import { rows as editorRows } from '../editor/rows.ts';
import { sign, spinnerSign } from '../text/signs.ts';
import type { Line } from '../text/spans.ts';
import { displayWidth } from '../text/width.ts';
import { activityLines } from './activity-lines.ts';
import { cardLines } from './card-lines.ts';
import { accent, contentWidth, emptyGutter, fitted, gutterSign, spread, toned } from './layout.ts';
import type { CardPart, LiveView, Screen } from './live-view.ts';
import { popupLines } from './popup-lines.ts';

/** The lines of the live region, and the place of the cursor in them. */
export interface LiveRegion {
  readonly lines: readonly Line[];
  readonly cursor: { readonly x: number; readonly y: number } | undefined;
  /** Part of the card that is shown. */
  readonly card?: CardPart | undefined;
}

/** Rows from which on a line stands above the composer. */
const rowsWithHairline = 14;
const hairlineColumns = 40;
const least = { rows: 10, columns: 30 };
/** Rows of a request where there is hardly room: its question, a line of it, what is left, keys. */
const leastCard = 4;

/**
 * Lays out the live region. It is never higher than the terminal less two rows: above that, lines
 * of the scrollback would be lost.
 */
export function liveRegion(view: LiveView, screen: Screen): LiveRegion {
  const most = Math.max(1, screen.rows - 2);
  const isSmall = screen.rows < least.rows || screen.columns < least.columns;
  const status = statusLine(view, screen);
  const composer = composerLines(view, screen, isSmall ? 1 : composerHeight(screen, most));
  const hairline = !isSmall && screen.rows >= rowsWithHairline ? [hairlineOf(screen)] : [];
  const rest = Math.max(0, most - 1 - composer.lines.length - hairline.length);
  // A request and a list keep their room: nobody may choose what is not shown.
  const isShort = isSmall && view.card === undefined && view.popup === undefined;
  const above = upperLines(view, screen, isShort ? Math.min(1, rest) : rest);
  const lines = [...above.lines, ...hairline, ...composer.lines, status].slice(-most);
  const shift = above.lines.length + hairline.length;
  const cursor = above.cursor ?? (view.isComposing ? moved(composer.cursor, shift) : undefined);
  return { lines: fitted(lines, screen), cursor, card: above.card };
}

function composerHeight({ rows }: Screen, most: number): number {
  return Math.max(1, Math.min(10, Math.floor(rows / 3), most - 1));
}

function moved(
  cursor: { readonly x: number; readonly y: number },
  by: number,
): { readonly x: number; readonly y: number } {
  return { x: cursor.x, y: cursor.y + by };
}

/** What stands above the composer: the popup or the activity, the notice, the open request. */
function upperLines(
  view: LiveView,
  screen: Screen,
  rest: number,
): {
  readonly lines: readonly Line[];
  readonly card?: CardPart | undefined;
  readonly cursor?: { readonly x: number; readonly y: number };
} {
  const notice = view.notice === undefined || rest === 0 ? [] : [view.notice];
  const free = rest - notice.length;
  if (view.popup !== undefined) {
    const height = Math.min(9, Math.floor(screen.rows / 2), free);
    return { lines: [...popupLines(view.popup, screen, height), ...notice] };
  }
  const cardHeight = Math.max(0, Math.min(Math.max(leastCard, screen.rows - 7), free));
  const card = view.card === undefined ? undefined : cardLines(view.card, screen, cardHeight);
  const activity = activityLines(view, screen, free - (card?.lines.length ?? 0));
  const lines = [...activity, ...(card?.lines ?? []), ...notice];
  const { cursor, part } = card ?? {};
  if (cursor === undefined) return { lines, card: part };
  return { lines, card: part, cursor: moved(cursor, activity.length) };
}

function hairlineOf({ columns, ascii }: Screen): Line {
  const width = Math.max(1, Math.min(hairlineColumns, columns - 1));
  return [{ text: sign('hairline', ascii).repeat(width), dim: true }];
}

function composerLines(
  view: LiveView,
  screen: Screen,
  height: number,
): {
  readonly lines: readonly Line[];
  readonly cursor: { readonly x: number; readonly y: number };
} {
  const { rows, cursor } = editorRows(view.editor, contentWidth(screen), height);
  const prompt = gutterSign(
    'user',
    view.isComposing ? { color: accent, bold: true } : { dim: true },
    screen,
  );
  const isEmpty = view.editor.atoms.length === 0;
  const lines = rows.map((row, at): Line => {
    const shown = isEmpty ? [{ text: view.placeholder, dim: true }] : row;
    return [at === 0 ? prompt : emptyGutter, ...shown];
  });
  return { lines, cursor: { x: 2 + cursor.column, y: cursor.row } };
}

function statusLine(view: LiveView, screen: Screen): Line {
  const { hint } = view.status;
  const facts = [...view.status.facts];
  const room = screen.columns - 5 - displayWidth(hint);
  // A fact that is cut says nothing.
  while (facts.length > 2 && displayWidth(facts.join(' · ')) > room) facts.pop();
  const left: Line = [statusSign(view, screen), { text: facts.join(' · '), dim: true }];
  return spread(left, { facts: hint === '' ? [] : [hint] }, screen);
}

function statusSign({ state, tick }: LiveView, screen: Screen): Line[number] {
  if (state === 'waiting') return gutterSign('asks', toned('attention'), screen);
  if (state === 'paused') return gutterSign('stopped', toned('attention'), screen);
  if (state === 'failed') return gutterSign('failed', toned('failure'), screen);
  if (state === 'idle') return emptyGutter;
  return { text: `${spinnerSign(tick ?? 0, screen.ascii)} ` };
}
