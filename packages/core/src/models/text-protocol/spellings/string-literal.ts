import { refuseAt } from './read-problem.ts';

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  '"': '"',
  "'": "'",
  '`': '`',
  '\\': '\\',
  '/': '/',
  // Models that write Markdown escape the underscores of names.
  _: '_',
};

/**
 * Reads the string whose quote stands at `start`. Line breaks within it are kept. A backslash that
 * no language knows is refused: `"C:\dir"` may mean two things.
 * @param closing the characters that end it
 * @throws ReadProblem
 */
export function readString(
  text: string,
  start: number,
  closing: string,
): { readonly value: string; readonly end: number } {
  const quote = text[start] as string;
  const triple = quote.repeat(3);
  const isTriple = (quote === '"' || quote === "'") && text.startsWith(triple, start);
  const parts: string[] = [];
  let at = start + (isTriple ? 3 : 1);
  let from = at;
  for (; at < text.length; at++) {
    const char = text[at] as string;
    if (char === '\\') {
      const escaped = escapeAt(text, at);
      parts.push(text.slice(from, at), escaped.value);
      at = escaped.end - 1;
      from = escaped.end;
    } else if (isTriple ? text.startsWith(triple, at) : closing.includes(char)) {
      parts.push(text.slice(from, at));
      return { value: parts.join(''), end: at + (isTriple ? 3 : 1) };
    }
  }
  return refuseAt(text, start, 'a string has no closing quote; it begins');
}

function escapeAt(text: string, at: number): { readonly value: string; readonly end: number } {
  const char = text[at + 1] ?? '';
  const simple = Object.hasOwn(escapes, char) ? escapes[char] : undefined;
  if (simple !== undefined) return { value: simple, end: at + 2 };
  const code = /^u([\dA-Fa-f]{4})/.exec(text.slice(at + 1, at + 6))?.[1];
  if (code !== undefined)
    return { value: String.fromCharCode(Number.parseInt(code, 16)), end: at + 6 };
  return refuseAt(text, at, 'a backslash in a string must be written as \\\\, unlike');
}
