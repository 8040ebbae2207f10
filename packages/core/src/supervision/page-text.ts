import { isPlainObject, type JsonValue } from '../base/json.ts';

/** A page as people see it: its title or first heading, and its text without markup. */
export interface PageText {
  readonly headings: readonly string[];
  readonly text: string;
}

/** Most characters of a page that is read, markup included: a refusal is short. */
const longestPage = 60_000;

const titleMembers = ['title', 'heading'];
const textMembers = ['text', 'content', 'body', 'html', 'markdown', 'data', 'page'];

/** The same for pages without markup. */
const longestText = 4_000;

/**
 * Returns the visible text of a page in a tool result; `undefined` when it is no page, a long one,
 * or one without a match for `hints`.
 */
export function pageText(content: JsonValue, hints: RegExp): PageText | undefined {
  if (typeof content === 'string') return ofText(content, [], hints);
  if (!isPlainObject(content)) return undefined;
  const titles = titleMembers
    .map((member) => content[member])
    .filter((title) => typeof title === 'string');
  const text =
    textMembers.map((member) => content[member]).find((part) => typeof part === 'string') ?? '';
  if (titles.length === 0 && text === '') return undefined;
  return ofText(text, titles, hints);
}

function ofText(page: string, titles: readonly string[], hints: RegExp): PageText | undefined {
  if (page.length > longestPage || !(hints.test(page) || titles.some((title) => hints.test(title))))
    return undefined;
  const lower = page.toLowerCase();
  // Lower case is longer than the text in some languages; such a text is read as it is.
  const isMarkup =
    lower.length === page.length && (lower.includes('</') || lower.includes('<!doctype'));
  if (!isMarkup)
    return page.length > longestText
      ? undefined
      : { headings: [...titles, firstLine(page)], text: collapsed(page) };
  const headings = [...titles];
  for (const element of ['title', 'h1', 'h2']) {
    const inner = firstElement(page, lower, element);
    if (inner !== undefined) headings.push(collapsed(withoutTags(inner, inner.toLowerCase())));
  }
  return { headings, text: collapsed(withoutTags(page, lower)) };
}

function firstLine(text: string): string {
  const line = text.trimStart().slice(0, 300).split('\n', 1)[0] as string;
  return line.replace(/^[#>*=\s]{1,8}/, '').trim();
}

function collapsed(text: string): string {
  return text.split(/\s/).filter(Boolean).join(' ');
}

function firstElement(page: string, lower: string, name: string): string | undefined {
  const open = lower.indexOf(`<${name}`);
  const start = open < 0 ? -1 : lower.indexOf('>', open);
  const end = start < 0 ? -1 : lower.indexOf(`</${name}`, start);
  return end < 0 ? undefined : page.slice(start + 1, end);
}

/** Elements with invisible content. */
const hidden = ['script', 'style', 'head', 'svg', 'template'];

/** Each character is passed once: no part is searched again. */
function withoutTags(page: string, lower: string): string {
  let text = '';
  let at = 0;
  while (at < page.length) {
    const open = page.indexOf('<', at);
    if (open < 0) return text + page.slice(at);
    text += `${page.slice(at, open)} `;
    const close = page.indexOf('>', open);
    if (close < 0) return text;
    at = close + 1;
    const element = hidden.find((name) => lower.startsWith(name, open + 1));
    if (element === undefined || !/[\s>/]/.test(page[open + 1 + element.length] ?? '')) continue;
    const end = lower.indexOf(`</${element}`, at);
    // Without an end, the rest of the page is invisible.
    if (end < 0) return text;
    at = end;
  }
  return text;
}
