import { cutText } from '../base/cut-text.ts';

/**
 * Most of the window that one tool result may take (30 %), counted with 4 characters to a token,
 * and the most in any case.
 */
const shareOfWindow = 0.3;
const charactersPerToken = 4;
const mostCharacters = 400_000;
const fewestCharacters = 2_000;
const marker = '[...truncated]';

/** Longest tool result, in characters, for a model with this context window in tokens. */
export function resultLimit(contextWindow: number): number {
  return Math.max(
    fewestCharacters,
    Math.min(mostCharacters, Math.floor(contextWindow * shareOfWindow * charactersPerToken)),
  );
}

/**
 * Shortens a text to `limit` characters: at the last line end if that lies in the second half, and
 * says so.
 * @param note what stands behind the mark
 */
export function truncateText(text: string, limit: number, note = ''): string {
  if (text.length <= limit) return text;
  const mark = `${marker}${note}`;
  const cut = cutText(text, Math.max(0, limit - mark.length - 1));
  const lineEnd = cut.lastIndexOf('\n');
  return `${lineEnd > cut.length / 2 ? cut.slice(0, lineEnd) : cut}\n${mark}`;
}
