/**
 * Returns the place at or just before `index` where a text can be cut without parting the two
 * halves of one character. Providers refuse a whole request over half a character, and it would
 * stay in every later prompt.
 */
export function cutPlace(text: string, index: number): number {
  const parts = isSurrogate(text, index, 0xdc00) && isSurrogate(text, index - 1, 0xd800);
  return parts ? index - 1 : index;
}

/** Returns at most the first `length` UTF-16 units of a text, and no half character. */
export function cutText(text: string, length: number): string {
  return text.slice(0, cutPlace(text, length));
}

/** @param first the first of the 1024 high (U+D800) or low (U+DC00) surrogates */
function isSurrogate(text: string, index: number, first: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= first && unit < first + 0x400;
}
