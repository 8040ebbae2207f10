import { cutText } from '../base/text/cut-text.ts';

/**
 * Maximum share of the window that one tool result may take (30 %), with 4 characters to a token.
 * `mostCharacters` and `fewestCharacters` bound the result in any case.
 */
const shareOfWindow = 0.3;
const charactersPerToken = 4;
const mostCharacters = 400_000;
const fewestCharacters = 2_000;
const marker = '[...truncated]';

/** Returns the maximum length of a tool result, in characters, for a context window in tokens. */
export function resultLimit(contextWindow: number): number {
  return Math.max(
    fewestCharacters,
    Math.min(mostCharacters, Math.floor(contextWindow * shareOfWindow * charactersPerToken)),
  );
}

/**
 * Shortens a text to `limit` characters and appends a mark. The cut is at the last line end if that
 * lies in the second half.
 * @param note text behind the mark
 */
export function truncateText(text: string, limit: number, note = ''): string {
  if (text.length <= limit) return text;
  const mark = `${marker}${note}`;
  const cut = cutText(text, Math.max(0, limit - mark.length - 1));
  const lineEnd = cut.lastIndexOf('\n');
  return `${lineEnd > cut.length / 2 ? cut.slice(0, lineEnd) : cut}\n${mark}`;
}
