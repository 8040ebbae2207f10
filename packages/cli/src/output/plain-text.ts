import { visibleText } from 'adjutant/text';

/**
 * A whole text that a terminal shows and does not obey. Nothing is left out: what a terminal would
 * obey, and what would not be seen, is written out, so that no text looks like another one.
 */
export function plainText(text: string): string {
  return visibleText(text.replaceAll('\r\n', '\n'));
}

/** The same on one line. */
export function plainLine(text: string): string {
  return plainText(text).replace(/\s+/g, ' ').trim();
}
