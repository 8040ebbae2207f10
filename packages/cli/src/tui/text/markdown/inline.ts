import type { MarkedToken, Token, Tokens } from 'marked';
import { type Look, type Span, spansOf } from '../spans.ts';
import { visible } from '../visible.ts';
import { withCharacters } from './entities.ts';
import { isOtherAddress, isSameAddress, readTarget } from './links.ts';

/** Decisions about links, which depend on the terminal and the project. */
export interface LinkOptions {
  /** The terminal is known to open links (OSC 8). */
  readonly links?: boolean;
  /** Address of a file of the project that a target such as `src/money.ts:12` names. */
  readonly fileUrl?: (target: string) => string | undefined;
}

/** Returns the spans of inline tokens. Line breaks stay. */
export function inlineSpans(
  tokens: readonly Token[],
  options: LinkOptions,
  look: Look = {},
): Span[] {
  return (tokens as readonly MarkedToken[]).flatMap((token) => tokenSpans(token, options, look));
}

/** Returns the spans of a text from outside, as it stands. */
export function plainSpans(text: string, look: Look = {}): Span[] {
  return spansOf(visible(text, 'prose').pieces, look);
}

function tokenSpans(token: MarkedToken, options: LinkOptions, look: Look): Span[] {
  switch (token.type) {
    case 'strong':
      return inlineSpans(token.tokens, options, { ...look, bold: true });
    case 'em':
      return inlineSpans(token.tokens, options, { ...look, italic: true });
    case 'del':
      return inlineSpans(token.tokens, options, { ...look, strike: true });
    case 'codespan':
      return plainSpans(token.text, { ...look, color: 'cyan' });
    case 'link':
      return linkSpans(token, options, look);
    case 'image':
      return plainSpans(imageText(withCharacters(token.text)), look);
    case 'br':
      return [{ ...look, text: '\n' }];
    case 'escape':
      return plainSpans(token.text, look);
    case 'checkbox':
      return [{ ...look, text: token.checked ? '[x] ' : '[ ] ' }];
    case 'html':
      return plainSpans(token.text, look);
    case 'text':
      if (token.tokens !== undefined) return inlineSpans(token.tokens, options, look);
      return plainSpans(withoutIndentation(withCharacters(token.text)), look);
    default:
      return plainSpans(token.raw, look);
  }
}

function withoutIndentation(text: string): string {
  return text.replaceAll(/\n[ \t]+/g, '\n');
}

function imageText(alt: string): string {
  return alt.trim() === '' ? '[image]' : `[image: ${alt}]`;
}

/**
 * A link. Its target is shown beside its label, unless the terminal shows it on demand. It is
 * always shown when the label is another address.
 */
function linkSpans(token: Tokens.Link, options: LinkOptions, look: Look): Span[] {
  const href = token.autolink === true ? token.href : withCharacters(token.href);
  const label =
    token.autolink === true
      ? plainSpans(token.text, look)
      : inlineSpans(token.tokens, options, look);
  const words = label.map(({ text }) => text).join('');
  const { url, shown } = readTarget(href);
  const fileUrl = /:\d+$/.test(href) ? options.fileUrl?.(href) : undefined;
  const target = url ?? fileUrl;
  const opens = options.links === true && target !== undefined;
  const marked = opens ? label.map((span) => ({ ...span, underline: true, link: target })) : label;
  // An address that says itself is not said twice, unless its letters are of several writings.
  const isShown = isSameAddress(words, href)
    ? /[^ -~]/.test(words) && shown !== words && shown !== `${words}/`
    : !opens || isOtherAddress(words, href);
  if (!isShown) return marked;
  return [
    ...marked,
    ...spansOf(visible(` (${shown})`, 'proseLine').pieces, { ...look, dim: true }),
  ];
}
