import { sha256 } from '../base/hash.ts';
import { canonicalJson, type JsonValue } from '../base/json.ts';
import type { ToolResult } from '../ledger/tool-result.ts';

/** Characters of a result that are compared; of what is longer, the length counts too. */
const mostCompared = 100_000;

/** Keys up to this length are kept as they stand. */
const longestKey = 1_000;

const keys = new WeakMap<ToolResult, string>();

/**
 * Returns a text that is the same for results with the same content. Parts that change with every
 * call (times, ids, durations) do not count. Computed once.
 */
export function resultKey(result: ToolResult): string {
  let key = keys.get(result);
  if (key === undefined) {
    const text =
      `${result.status} ${result.errorType ?? ''} ` + `${withoutVolatile(textOf(result.content))}`;
    key = text.length <= longestKey ? text : sha256(text);
    keys.set(result, key);
  }
  return key;
}

/** True when two results differ only in parts that change with every call. */
export function tellsTheSame(one: ToolResult, other: ToolResult): boolean {
  // Most results that tell the same are the same to the letter, which costs next to nothing to find
  // out.
  if (
    one.content === other.content &&
    one.status === other.status &&
    one.errorType === other.errorType
  )
    return true;
  return resultKey(one) === resultKey(other);
}

function textOf(content: JsonValue): string {
  const text = typeof content === 'string' ? content : canonicalJson(content);
  return text.length <= mostCompared ? text : `${text.slice(0, mostCompared)}…${text.length}`;
}

/**
 * Patterns of removed parts: date with time of day, time of day, dates of HTTP, members that hold a
 * duration, epoch milliseconds, short durations. A day alone stays, and so do minutes and hours:
 * they are the content of a calendar or a forecast. Every repetition is bounded or stands between
 * word boundaries, so that hostile text costs no more than other text.
 */
const volatile = new RegExp(
  [
    String.raw`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?` +
      String.raw`(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?`,
    String.raw`\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d? [A-Z][a-z]{2} \d{4} ` +
      String.raw`\d\d:\d\d:\d\d(?: (?:GMT|UTC))?`,
    String.raw`\b\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\b`,
    String.raw`"(?:duration|elapsed|latency|took|timing)[A-Za-z_]{0,12}\\?": ?` +
      String.raw`-?\d{1,15}(?:\.\d{1,15})?`,
    String.raw`\b1\d{12}\b`,
    String.raw`\b\d{1,12}(?:[.,]\d{1,9})? ?(?:ns|µs|us|ms|s|secs?|seconds?|milliseconds?)\b`,
  ].join('|'),
  'g',
);

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;

const word = /[0-9A-Za-z]+/g;

/**
 * Long hexadecimal ids, and long ids of digits and letters (base 36, ULID and the like), which no
 * word of a language looks like.
 */
function isId(text: string): boolean {
  if (text.length < 16) return false;
  let digits = 0;
  let isHex = true;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code <= 57) digits++;
    else if (isHex && (code | 32) > 102) isHex = false;
  }
  return isHex ? digits > 0 : text.length >= 20 && digits >= 3;
}

export function withoutVolatile(text: string): string {
  return text
    .replace(uuid, '#')
    .replace(volatile, '#')
    .replace(word, (found) => (isId(found) ? '#' : found));
}
