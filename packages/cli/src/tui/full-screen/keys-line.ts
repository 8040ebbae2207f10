import type { Space } from '../screens/layout.ts';
import { sign } from '../text/signs.ts';
import type { Line } from '../text/spans.ts';
import { displayWidth } from '../text/width.ts';
import { cutLine } from '../text/wrap.ts';

/**
 * Returns the line of the keys of a view. Where there is no room, keys are left out: first those
 * of `least`, in their order, then the last ones, but never the very last.
 */
export function keysLine(
  keys: readonly string[],
  { columns, ascii }: Space,
  least: readonly string[] = [],
): Line {
  const width = Math.max(1, columns - 1);
  const kept = [...keys];
  const left = [...least];
  while (kept.length > 1 && displayWidth(textOf(kept)) > width) {
    const at = kept.indexOf(left.shift() ?? '');
    kept.splice(at === -1 ? kept.length - 2 : at, 1);
  }
  return cutLine([{ text: textOf(kept), dim: true }], width, sign('ellipsis', ascii));
}

function textOf(keys: readonly string[]): string {
  return ` ${keys.join(' · ')}`;
}

/** Returns exactly so many lines: others are left out, or empty ones added. */
export function filled(lines: readonly Line[], height: number): Line[] {
  const kept = lines.slice(0, Math.max(0, height));
  return [...kept, ...Array.from({ length: Math.max(0, height - kept.length) }, (): Line => [])];
}

/** First of the rows that are shown, so that the marked one is among them. */
export function windowStart(first: number, marked: number, room: number, count: number): number {
  const most = Math.max(0, count - room);
  const start = Math.min(first, marked);
  return Math.max(0, Math.min(most, Math.max(start, marked - room + 1)));
}
