import type { MarkedToken, Token, Tokens } from 'marked';
import { sign } from '../signs.ts';
import { type Line, type Span, splitLines } from '../spans.ts';
import { cutLine, wrapLine } from '../wrap.ts';
import { codeLines } from './code.ts';
import { inlineSpans, type LinkOptions, plainSpans } from './inline.ts';
import { lexTokens } from './lex.ts';
import { tableLines } from './table.ts';

/** The place where a Markdown text is shown. */
export interface MarkdownOptions extends LinkOptions {
  /** Columns for code and tables; prose takes at most 100 of them. */
  readonly width: number;
  /** The terminal has no UTF-8. */
  readonly ascii?: boolean;
}

const widestProse = 100;
/** Columns that stay for the text of a list in a list, however deep it is. */
const leastWidth = 8;

/**
 * Returns the lines of a Markdown text. All of it passes `visible`; no line is wider than asked
 * for. Prose is wrapped, code and tables are cut.
 */
export function markdownLines(text: string, options: MarkdownOptions): Line[] {
  const tokens = lexTokens(text);
  const lines =
    tokens === undefined
      ? proseLines(plainSpans(text), options)
      : blockLines(tokens, options, true);
  return lines.map((line) => cutLine(line, options.width, sign('ellipsis', options.ascii)));
}

function blockLines(tokens: readonly Token[], options: MarkdownOptions, isParted: boolean): Line[] {
  const lines: Line[] = [];
  for (const token of tokens as readonly MarkedToken[]) {
    const block = tokenLines(token, options);
    if (block.length === 0) continue;
    if (isParted && lines.length > 0) lines.push([]);
    lines.push(...block);
  }
  return lines;
}

function tokenLines(token: MarkedToken, options: MarkdownOptions): Line[] {
  switch (token.type) {
    case 'space':
      return [];
    case 'heading':
      return proseLines(inlineSpans(token.tokens, options, { bold: true }), options);
    case 'paragraph':
      return proseLines(inlineSpans(token.tokens, options), options);
    case 'code':
      return withPrefix(codeLines(token.text, languageOf(token)), output(options));
    case 'list':
      return listLines(token, options);
    case 'blockquote': {
      const inner = blockLines(token.tokens, narrower(options, 2), true);
      return withPrefix(inner, { text: '> ', dim: true });
    }
    case 'hr':
      return [[{ text: sign('hairline', options.ascii).repeat(3), dim: true }]];
    case 'table':
      return tableLines(token, { width: options.width, prose: widestProse }, options);
    case 'html':
    case 'def':
      return proseLines(plainSpans(token.raw.trimEnd()), options);
    default:
      return proseLines(inlineSpans([token], options), options);
  }
}

function proseLines(spans: readonly Span[], { width }: MarkdownOptions): Line[] {
  return splitLines(spans).flatMap((line) => wrapLine(line, Math.min(width, widestProse)));
}

function languageOf({ lang = '' }: Tokens.Code): string {
  return /^[\w+#-]*/.exec(lang)?.[0] ?? '';
}

function output({ ascii }: MarkdownOptions): Span {
  return { text: `${sign('output', ascii)} `, dim: true };
}

function narrower(options: MarkdownOptions, by: number): MarkdownOptions {
  return { ...options, width: Math.max(leastWidth, options.width - by) };
}

function withPrefix(lines: readonly Line[], first: Span, further = first): Line[] {
  return lines.map((line, at) => [at === 0 ? first : further, ...line]);
}

function listLines(list: Tokens.List, options: MarkdownOptions): Line[] {
  const start = list.start === '' ? 1 : list.start;
  const signs = list.items.map((_, at) =>
    list.ordered ? `${start + at}. ` : `${sign('bullet', options.ascii)} `,
  );
  const width = Math.max(...signs.map(({ length }) => length));
  const indent = { text: ' '.repeat(width) };
  return list.items.flatMap(({ tokens }, at) => {
    const inner = itemLines(tokens, narrower(options, width));
    const lines = inner.length === 0 ? [[]] : inner;
    return withPrefix(lines, { text: (signs[at] ?? '').padStart(width) }, indent);
  });
}

/** Lines of an item. A checkbox stands before the first line of its text. */
function itemLines(tokens: readonly Token[], options: MarkdownOptions): Line[] {
  const [first, ...rest] = tokens as readonly MarkedToken[];
  if (first?.type !== 'checkbox') return blockLines(tokens, options, false);
  const box: Span = { text: first.checked ? '[x] ' : '[ ] ' };
  const lines = blockLines(rest, narrower(options, box.text.length), false);
  return withPrefix(lines.length === 0 ? [[]] : lines, box, { text: '    ' });
}
