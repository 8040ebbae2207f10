import type { Space } from '../screens/layout.ts';
import { sign } from '../text/signs.ts';
import type { Line } from '../text/spans.ts';
import { displayWidth } from '../text/width.ts';
import { cutLine } from '../text/wrap.ts';

/** Returns the line of the keys of a view. Those that do not fit are left out, but not the last. */
export function keysLine(keys: readonly string[], { columns, ascii }: Space): Line {
  const width = Math.max(1, columns - 1);
  const last = keys.at(-1) ?? '';
  const kept: string[] = [];
  for (const key of keys.slice(0, -1)) {
    const text = ` ${[...kept, key, last].join(' · ')}`;
    if (displayWidth(text) > width) break;
    kept.push(key);
  }
  const text = ` ${[...kept, last].join(' · ')}`;
  return cutLine([{ text, dim: true }], width, sign('ellipsis', ascii));
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
