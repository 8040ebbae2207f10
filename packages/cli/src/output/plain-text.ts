import { visibleText } from 'adjutant/text';

/**
 * Returns text that a terminal shows and does not obey. Nothing is left out: control characters and
 * invisible ones are written out. So no text looks like another one.
 */
export function plainText(text: string): string {
  return visibleText(text.replaceAll('\r\n', '\n'));
}

/** Returns the same text on one line. */
export function plainLine(text: string): string {
  return plainText(text).replace(/\s+/g, ' ').trim();
}
