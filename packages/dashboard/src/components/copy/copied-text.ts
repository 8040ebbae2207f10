import { visible } from '../visible-text.ts';

/** Thing that can be copied: what stands in Markdown, its data, and the request that gives it. */
export interface Copied {
  /** Line above it: "#40 tool_result of chase-0". */
  readonly title: string;
  /** Facts in words, by name; those without words are left out. */
  readonly facts?: readonly (readonly [string, string | undefined])[];
  /** Text for people, such as a prompt. @default the data as JSON */
  readonly text?: string;
  readonly data: unknown;
  readonly request: CopiedRequest;
}

/** Reading request of the HTTP API. */
export interface CopiedRequest {
  /** Parts of the path behind `/v1`, not encoded yet. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | number>>;
}

/** Characters that terminals obey, and marks that turn or hide text. */
const obeyed = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Returns a value as JSON that shows as what it is wherever it is pasted. */
export function jsonText(value: unknown): string {
  return (JSON.stringify(value, null, 2) ?? 'null').replace(
    obeyed,
    (symbol) => `\\u${symbol.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns text without the signs that Markdown would take for its own. */
export function escapedMarkdown(text: string): string {
  return visible(text)
    .replace(/[|\\`*_<>[\]#]/g, '\\$&')
    .replaceAll('\n', ' ');
}

/** Returns a thing for an issue or a message. */
export function markdownText({ title, facts = [], text, data }: Copied): string {
  const list = facts.flatMap(([name, words]) =>
    words === undefined || words === '' ? [] : [`- **${name}:** ${escapedMarkdown(words)}`],
  );
  const block = text === undefined ? fenced(jsonText(data), 'json') : fenced(visible(text), '');
  return [`### ${escapedMarkdown(title)}`, ...(list.length === 0 ? [] : [list.join('\n')]), block]
    .join('\n\n')
    .concat('\n');
}

/** A fence is longer than every one that stands in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/**
 * Returns the command line for a request. A key is never in it: it stands in the environment.
 * @param isOpen the server asks for none
 */
export function curlText(server: string, { path, query = {} }: CopiedRequest, isOpen: boolean) {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  );
  const address = `${server}/v1/${path.map(encodeURIComponent).join('/')}`;
  const url = search.size === 0 ? address : `${address}?${search}`;
  const key = isOpen ? '' : ' -H "Authorization: Bearer $ADJUTANT_KEY"';
  return `curl -sS${key} ${quoted(url)}\n`;
}

/** Text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
