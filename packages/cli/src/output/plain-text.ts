import { stripVTControlCharacters } from 'node:util';

const escapeCharacter = '\x1b';
/** Longer ones are not waited for. */
const longestSequence = 256;

/**
 * A text that a terminal shows and does not obey: without escape sequences, control characters (but newline and tab) and the
 * characters that turn the direction of writing, with which text can pose as something else.
 */
export function plainText(text: string): string {
  return stripVTControlCharacters(text).replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (found) => (found === '\n' || found === '\t' ? found : ''));
}

/** The same on one line. */
export function plainLine(text: string): string {
  return plainText(text).replace(/\s+/g, ' ').trim();
}

/** The same for a text that comes in pieces: an escape sequence that is not complete waits for the next piece. */
export class PlainTextStream {
  #held = '';

  push(piece: string): string {
    const text = this.#held + piece;
    const start = text.lastIndexOf(escapeCharacter);
    const isOpen = start >= 0 && text.length - start < longestSequence && stripVTControlCharacters(text.slice(start)).startsWith(escapeCharacter);
    this.#held = isOpen ? text.slice(start) : '';
    return plainText(isOpen ? text.slice(0, start) : text);
  }
}
