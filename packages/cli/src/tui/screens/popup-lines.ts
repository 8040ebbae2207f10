import { sign } from '../text/signs.ts';
import type { Line } from '../text/spans.ts';
import { displayWidth } from '../text/width.ts';
import { cutLine } from '../text/wrap.ts';
import { accent, emptyGutter, gutterSign } from './layout.ts';
import type { Popup, Screen } from './live-view.ts';

/** Returns the lines of a list, with the marked row among them. */
export function popupLines(
  { title, rows, marked, keys }: Popup,
  screen: Screen,
  height: number,
): Line[] {
  const below: Line[] = keys === undefined ? [] : [[emptyGutter, { text: keys, dim: true }]];
  const above: Line[] = title === undefined ? [] : [[emptyGutter, ...title]];
  const room = Math.max(1, height - above.length - below.length);
  const first = Math.max(0, Math.min(marked - Math.floor(room / 2), rows.length - room));
  const shown = rows.slice(first, first + room).map((row, at): Line => {
    const isMarked = first + at === marked;
    return [isMarked ? gutterSign('user', { color: accent }, screen) : emptyGutter, ...row];
  });
  const hidden = rows.length - room - first;
  const last = shown.at(-1);
  if (hidden > 0 && last !== undefined) {
    const ellipsis = sign('ellipsis', screen.ascii);
    const more = `  ${ellipsis} ${hidden} more`;
    const width = Math.max(1, screen.columns - 1 - displayWidth(more));
    shown[shown.length - 1] = [...cutLine(last, width, ellipsis), { text: more, dim: true }];
  }
  return [...above, ...shown, ...below].slice(0, Math.max(0, height));
}
