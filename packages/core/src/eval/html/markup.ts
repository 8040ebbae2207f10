import { cutText } from '../../base/text/cut-text.ts';

/**
 * HTML as it goes into the page. Made by `html` only, so that no text of a report becomes a tag.
 */
export class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** The content of a template. Texts and numbers are escaped; nothing is left out. */
export type Content = Markup | string | number | undefined | false | readonly Content[];

/**
 * A template of HTML. A value may stand between tags or in an attribute in double quotes, nowhere
 * else.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  let text = strings[0] ?? '';
  values.forEach((value, index) => {
    text += asMarkup(value) + (strings[index + 1] ?? '');
  });
  return new Markup(text);
}

function asMarkup(value: Content): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Markup) return value.toString();
  if (typeof value === 'object') return value.map(asMarkup).join('');
  return escapeHtml(String(value));
}

const special: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Characters that must not go into a page as they are: those of HTML, control characters except tab
 * and newline, and marks that turn the direction of writing.
 */
const unsafe =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for them
  /[&<>"'\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]/g;

/**
 * A text as HTML. What cannot be seen, or would make other text look different, is shown by a sign
 * or by its number.
 */
function escapeHtml(text: string): string {
  return text.toWellFormed().replaceAll('\r\n', '\n').replace(unsafe, escapeSymbol);
}

function escapeSymbol(symbol: string): string {
  const replaced = special[symbol];
  if (replaced !== undefined) return replaced;
  const code = symbol.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** At most `length` characters of a text, and how many more there are. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  const shown = cutText(text, length);
  return `${shown}… (${(text.length - shown.length).toLocaleString('en-US')} more characters)`;
}

/** The same on one line, for names: white space is a space, and what is left out is not counted. */
export function shortLine(text: string, length: number): string {
  // A name of megabytes is cut before its white space is looked at.
  const line = cutText(text, length * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= length && text.length <= length * 4
    ? line
    : `${cutText(line, length - 1)}…`;
}
