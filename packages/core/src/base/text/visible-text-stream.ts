import { visibleText } from './visible-text.ts';

/**
 * Signs whose meaning depends on the next one: a line end of other systems, a joiner of pictures,
 * and half a character.
 */
const undecided = /(?:\r|\ufe0f|\u200d)?[\ud800-\udbff]?$/;
/** Characters before a sign that decide if it is part of a picture. */
const contextLength = 4;

/**
 * Makes a text that comes in pieces safe to show in a terminal. Nothing is left out: control codes
 * and invisible characters are written out, such as `\u001b`. Otherwise a text could pose as
 * another one: digits in a window title are part of no sum that is shown. Line feeds and tabs stay;
 * line ends of other systems become line feeds.
 */
export class VisibleTextStream {
  #before = '';
  #held = '';

  push(piece: string): string {
    const text = this.#held + piece;
    this.#held = undecided.exec(text)?.[0] ?? '';
    return this.#show(text.slice(0, text.length - this.#held.length));
  }

  /** Text held back until the next piece. */
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
