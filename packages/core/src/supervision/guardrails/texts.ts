import type { JsonValue } from '../../base/json.ts';

/** Characters of one value that are searched at most: models are never shown more of it at once. */
export const searchedCharacters = 400_000;

/** All texts in a value, keys of objects too, up to `searchedCharacters`. Not recursive: what tools give may be nested as deep as it likes. */
export function* textsIn(value: JsonValue): Generator<string> {
  if (typeof value === 'string') {
    yield value.length > searchedCharacters ? value.slice(0, searchedCharacters) : value;
    return;
  }
  const open: JsonValue[] = [value];
  let left = searchedCharacters;
  for (let part = open.pop(); part !== undefined && left > 0; part = open.pop()) {
    if (typeof part === 'string') {
      yield part.length > left ? part.slice(0, left) : part;
      left -= part.length;
    } else if (Array.isArray(part)) {
      for (let i = part.length - 1; i >= 0; i--) open.push(part[i]);
    } else if (typeof part === 'object' && part !== null) {
      for (const [key, inner] of Object.entries(part).reverse()) {
        if (inner !== undefined) open.push(inner);
        open.push(key);
      }
    }
  }
}
