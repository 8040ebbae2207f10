import type { JsonValue } from '../../base/json.ts';

/** Characters of one value that are searched at most: models are never shown more of it at once. */
export const searchedCharacters = 400_000;

const hiddenCharacters = /[\u00AD\u200B-\u200F\u2060-\u2064\uFEFF]/g;

/** Returns a text without characters that nobody sees, which would part words. */
export function withoutHidden(text: string): string {
  return text.search(hiddenCharacters) < 0 ? text : text.replace(hiddenCharacters, '');
}

/**
 * Returns the first match of `search` in the texts of a value, names of members too, up to
 * `searchedCharacters`. Not recursive, because results may be nested to any depth.
 */
export function findInTexts<Found>(
  value: JsonValue,
  search: (text: string) => Found | undefined,
): Found | undefined {
  if (typeof value === 'string')
    return search(value.length > searchedCharacters ? value.slice(0, searchedCharacters) : value);
  if (typeof value !== 'object' || value === null) return undefined;
  const open: JsonValue[] = [value];
  let left = searchedCharacters;
  while (open.length > 0 && left > 0) {
    const part = open.pop();
    if (typeof part === 'string') {
      const found = search(part.length > left ? part.slice(0, left) : part);
      if (found !== undefined) return found;
      left -= part.length;
    } else if (typeof part === 'object' && part !== null) {
      pushParts(part as object, open);
    }
  }
  return undefined;
}

/** The first part last, so that it is the next one. */
function pushParts(value: object, open: JsonValue[]): void {
  const isList = Array.isArray(value);
  const keys = Object.keys(value);
  for (let i = keys.length - 1; i >= 0; i--) {
    const key = keys[i] as string;
    const part = (value as Readonly<Record<string, JsonValue | undefined>>)[key];
    if (part !== undefined) open.push(part);
    if (!isList) open.push(key);
  }
}
