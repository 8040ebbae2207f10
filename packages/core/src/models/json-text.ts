import type { JsonValue } from '../base/json.ts';

/**
 * Longer texts are not searched: JSON that a model was asked for is shorter, and a repair takes
 * memory.
 */
const longestText = 500_000;
/**
 * The time of a repair grows with the square of the length: less than 0.1 seconds for a list of
 * this length without commas.
 */
const longestRepair = 16_000;
/** Places at which a value may begin that are tried; prose has brackets, too. */
const mostBeginnings = 20;

/**
 * The JSON value in a text of a model: the text itself, what is in its first fence, or an object or
 * a list within it; with single or typographic quotes, trailing commas, comments or a missing end
 * repaired. `undefined` when there is none. Only objects and lists are searched for and repaired; a
 * text that is JSON as a whole may be any value.
 */
export async function findJson(text: string): Promise<JsonValue | undefined> {
  const found = findStrictJson(text);
  if (found !== undefined || text.length > longestText) return found;
  const place = fencedText(text) ?? text;
  const start = place.search(/[[{]/);
  if (start === -1 || place.length - start > longestRepair) return undefined;
  const { jsonrepair } = await import('jsonrepair');
  const end = Math.max(place.lastIndexOf('}'), place.lastIndexOf(']'));
  // First without the prose behind it; but the last bracket may belong to a string that is not
  // closed.
  for (const candidate of new Set([
    place.slice(start, end > start ? end + 1 : undefined),
    place.slice(start),
  ])) {
    try {
      const value = parse(jsonrepair(candidate));
      if (typeof value === 'object' && value !== null) return value;
    } catch {
      // Beyond repair.
    }
  }
  return undefined;
}

/** The same without any repair. */
function findStrictJson(text: string): JsonValue | undefined {
  if (text.length > longestText) return undefined;
  for (const place of [text, fencedText(text)]) {
    const value = place === undefined ? undefined : parse(place);
    if (value !== undefined) return value;
  }
  let from = 0;
  for (let tried = 0; tried < mostBeginnings; tried++) {
    const start = from + text.slice(from).search(/[[{]/);
    if (start < from) return undefined;
    const end = endOfValue(text, start);
    const value = end === undefined ? undefined : parse(text.slice(start, end));
    if (typeof value === 'object' && value !== null) return value;
    from = end === undefined ? start + 1 : end;
  }
  return undefined;
}

/** Returns the text between the first fence and the next one, or the end, without its language. */
function fencedText(text: string): string | undefined {
  const open = text.indexOf('```');
  if (open === -1) return undefined;
  const close = text.indexOf('```', open + 3);
  return text
    .slice(open + 3, close === -1 ? undefined : close)
    .replace(/^\s{0,2}(?:json5?|javascript|js)?\s*(?=[[{])/i, '');
}

/** The place behind the value that begins at `start`: where its brackets are closed. */
function endOfValue(text: string, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let i = start; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === '\\') i++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{' || char === '[') depth++;
    else if ((char === '}' || char === ']') && --depth === 0) return i + 1;
  }
  return undefined;
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
