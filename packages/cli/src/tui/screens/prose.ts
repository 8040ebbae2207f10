import { markdownLines } from '../text/markdown/markdown.ts';
import type { Line } from '../text/spans.ts';
import { contentWidth, emptyGutter, type Space } from './layout.ts';

/** Returns the lines of an answer in Markdown, behind the gutter. */
export function answerLines(markdown: string, space: Space): Line[] {
  const options = { width: contentWidth(space), ascii: space.ascii };
  return markdownLines(markdown, options).map((line) =>
    line.length === 0 ? line : [emptyGutter, ...line],
  );
}
