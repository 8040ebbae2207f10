import type { Line } from '../text/spans.ts';
import { spansOf, splitLines } from '../text/spans.ts';
import { visible } from '../text/visible.ts';
import { wrapLine } from '../text/wrap.ts';
import type { Space } from './layout.ts';

/** Returns the lines of a text in Markdown, wrapped at words. */
export function markdownLines(markdown: string, width: number, _space: Space): Line[] {
  return splitLines(spansOf(visible(markdown, 'prose').pieces)).flatMap((line) =>
    wrapLine(line, width),
  );
}
