import { cutText } from '../base/text/cut-text.ts';

const charactersPerToken = 4;
/** Characters of a tool result that a small window does not take from it. */
const fewestCharacters = 2_000;
const marker = '[...truncated]';

/** Bounds of one tool result in a prompt. */
export interface ResultBounds {
  /** Largest share of the window. */
  readonly resultShare: number;
  /** Most characters, whatever the window is. */
  readonly resultCharacters: number;
}

/** Returns the maximum length of a tool result, in characters, for a context window in tokens. */
export function resultLimit(
  contextWindow: number,
  { resultShare, resultCharacters }: ResultBounds,
): number {
  const ofWindow = Math.floor(contextWindow * resultShare * charactersPerToken);
  return Math.min(resultCharacters, Math.max(fewestCharacters, ofWindow));
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
