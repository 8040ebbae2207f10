import type { JsonValue } from '../base/json.ts';

/** Longer texts are not searched: what is asked for as JSON is shorter, and repair takes memory. */
const longestText = 1_000_000;

/**
 * The JSON value in a text of a model: the text itself, what is in its first fence, or the first object or list in it; with single or typographic
 * quotes, trailing commas, comments or a missing end repaired. `undefined` when there is none. Only objects and lists are searched for;
 * a text that is JSON as a whole may be any value.
 */
export async function findJson(text: string): Promise<JsonValue | undefined> {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.length > longestText) return undefined;
  const whole = parse(trimmed);
  if (whole !== undefined) return whole;
  const { jsonrepair } = await import('jsonrepair');
  const start = trimmed.search(/[[{]/);
  if (start === -1) return undefined;
  try {
    return parse(jsonrepair(trimmed.slice(start)));
  } catch {
    return undefined;
  }
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
