import { visibleText } from './visible-text.ts';

/**
 * What the sign after it decides about: the end of a line of other systems, what joins signs to a
 * picture, and half a character.
 */
const undecided = /(?:\r|\ufe0f|\u200d)?[\ud800-\udbff]?$/;
/** Enough of what stands before a sign to know whether it is part of a picture. */
const contextLength = 4;

/**
 * Makes a text that comes in pieces one that a terminal shows and does not obey. Nothing is left
 * out: what a terminal would obey, and what would not be seen, is written out, such as `\u001b`.
 * Otherwise a text could pose as another one: digits in a window title are part of no sum that is
 * shown. Line feeds and tabs stay; the ends of lines of other systems become line feeds.
 */
export class VisibleTextStream {
  #before = '';
  #held = '';

  push(piece: string): string {
    const text = this.#held + piece;
    this.#held = undecided.exec(text)?.[0] ?? '';
    return this.#show(text.slice(0, text.length - this.#held.length));
  }

  /** What was held back to see what follows it. */
  end(): string {
    const held = this.#held;
    this.#held = '';
    return this.#show(held);
  }

  #show(text: string): string {
    const now = text.replaceAll('\r\n', '\n');
    const shown = visibleText(this.#before + now).slice(visibleText(this.#before).length);
    this.#before = (this.#before + now).slice(-contextLength);
    return shown;
  }
}
