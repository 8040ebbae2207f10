const obeyed = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;
/** A control string, such as a window title, that is longer than this or meets the end of the line is given up: it must not swallow the text. */
const longestControlString = 1_000;

const escapeCode = 0x1b;
const bell = 0x07;
/** ESC followed by one of these begins a control string: OSC, DCS, SOS, PM, APC. */
const stringStarts = ']PX^_';
/** The same beginnings as single characters of 8-bit terminals; CSI and the terminator are apart. */
const eightBitStringStarts: readonly number[] = [0x90, 0x98, 0x9d, 0x9e, 0x9f];
const eightBitControlSequence = 0x9b;
const eightBitTerminator = 0x9c;

type State = 'text' | 'escape' | 'sequence' | 'string';

/**
 * Makes a text that comes in pieces one that a terminal shows and does not obey: without escape sequences, control characters (but newline
 * and tab) and the characters that turn the direction of writing, with which text can pose as something else.
 */
export class PlainTextStream {
  #state: State = 'text';
  #stringLength = 0;

  push(piece: string): string {
    if (this.#state === 'text' && !obeyed.test(piece)) return piece;
    let plain = '';
    for (const symbol of piece) plain += this.#take(symbol);
    return plain;
  }

  #take(symbol: string): string {
    switch (this.#state) {
      case 'text':
        return this.#takeText(symbol);
      case 'escape':
        return this.#takeEscape(symbol);
      case 'sequence':
        return this.#takeSequence(symbol);
      case 'string':
        return this.#takeString(symbol);
    }
  }

  #takeText(symbol: string): string {
    const code = symbol.charCodeAt(0);
    if (code === escapeCode) this.#state = 'escape';
    else if (code === eightBitControlSequence) this.#state = 'sequence';
    else if (eightBitStringStarts.includes(code)) this.#beginString();
    else if (symbol === '\n' || symbol === '\t' || !obeyed.test(symbol)) return symbol;
    return '';
  }

  #takeEscape(symbol: string): string {
    if (symbol === '[') this.#state = 'sequence';
    else if (stringStarts.includes(symbol)) this.#beginString();
    else if (symbol < ' ' || symbol > '~') return this.#takeAsText(symbol);
    else if (symbol >= '0') this.#state = 'text';
    return '';
  }

  #takeSequence(symbol: string): string {
    if (symbol < ' ' || symbol > '~') return this.#takeAsText(symbol);
    if (symbol >= '@') this.#state = 'text';
    return '';
  }

  #takeString(symbol: string): string {
    const code = symbol.charCodeAt(0);
    if (code === escapeCode) this.#state = 'escape';
    else if (code === bell || code === eightBitTerminator) this.#state = 'text';
    else if (symbol === '\n' || ++this.#stringLength > longestControlString) return this.#takeAsText(symbol);
    return '';
  }

  #beginString(): void {
    this.#state = 'string';
    this.#stringLength = 0;
  }

  #takeAsText(symbol: string): string {
    this.#state = 'text';
    return this.#takeText(symbol);
  }
}

/** A whole text that a terminal shows and does not obey. */
export function plainText(text: string): string {
  return new PlainTextStream().push(text);
}

/** The same on one line. */
export function plainLine(text: string): string {
  return plainText(text).replace(/\s+/g, ' ').trim();
}
