import { sha256 } from '../../../base/hash.ts';

const identifier = /^[A-Za-z_$][\w$]*$/;

/** Control characters, and those that change the direction of the text after them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const invisible = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Returns a text on one line in which nothing acts on a terminal. Line breaks become `⏎`, other
 * control characters their pictures.
 */
export function oneLine(text: string): string {
  return text.replace(/\r?\n/g, '⏎').replace(invisible, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : '�';
  });
}

/**
 * Cuts a text to `longest` characters. Texts that differ only in the part that is left out end
 * differently.
 */
export function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text;
  // Half of a surrogate pair is no character.
  const beginning = text.slice(0, longest).replace(/[\ud800-\udbff]$/, '');
  return `${beginning}… (${text.length} characters, ${sha256(text).slice(0, 6)})`;
}

/** Formats a JSON value as code on one line: `{ city: 'Rome', days: 3 }`. */
export function literal(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (isAsymmetric(value)) return describeAsymmetric(value);
  if (value instanceof RegExp) return String(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  const members = Object.entries(value).filter(([, part]) => part !== undefined);
  if (members.length === 0) return '{}';
  const parts = members.map(
    ([key, part]) => `${identifier.test(key) ? key : quoted(key)}: ${literal(part)}`,
  );
  return `{ ${parts.join(', ')} }`;
}

function quoted(text: string): string {
  const line = oneLine(text);
  if (!line.includes("'")) return `'${line}'`;
  return line.includes('"') ? `'${line.replaceAll("'", "\\'")}'` : `"${line}"`;
}

interface Asymmetric {
  asymmetricMatch(other: unknown): boolean;
  toAsymmetricMatcher?(): string;
}

/** Checks for one of the runner's asymmetric matchers, such as `expect.any(String)`. */
export function isAsymmetric(value: unknown): value is Asymmetric {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<Asymmetric>).asymmetricMatch === 'function'
  );
}

function describeAsymmetric(matcher: Asymmetric): string {
  const { sample } = matcher as { sample?: unknown };
  // `Any` prints its constructor by name, which `sample` would not.
  if (typeof sample === 'function') return matcher.toAsymmetricMatcher?.() ?? String(matcher);
  return sample === undefined ? String(matcher) : `${String(matcher)}(${literal(sample)})`;
}
