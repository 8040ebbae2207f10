import { Marked, type MarkedToken } from 'marked';

const markdown = new Marked({ gfm: true });

/**
 * Returns the tokens of a Markdown text. `undefined`: it is nested so deeply that it cannot be
 * read; then it is shown as it is.
 */
export function lexTokens(text: string): readonly MarkedToken[] | undefined {
  try {
    return markdown.lexer(text) as MarkedToken[];
  } catch {
    return undefined;
  }
}
