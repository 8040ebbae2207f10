// Control characters but line breaks and tabs, and those that turn the direction of writing: what a
// model or a tool says must not move the cursor,
// set a title, or pose as something else.
const obeyed = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A text that a terminal shows and does not obey: what it would obey is written as `\u{1b}`. */
export function terminalText(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(obeyed, (symbol) =>
      symbol === '\n' || symbol === '\t'
        ? symbol
        : `\\u{${(symbol.codePointAt(0) ?? 0).toString(16)}}`,
    );
}

/** The same on one line, so that it cannot pose as a prompt. */
export function terminalLine(text: string): string {
  return terminalText(text).replace(/\s+/g, ' ').trim();
}
