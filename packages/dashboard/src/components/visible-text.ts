/**
 * Characters that a reader would not see, or that would turn text around: controls, zero widths,
 * marks of direction. Shown as symbols, so that no text can pass for another one. A zero width
 * joiner between two parts of one emoji hides nothing: without it, the emoji would be torn apart.
 */
const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
  /(?!(?<=\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}]?\ufe0f?)\u200d\p{Extended_Pictographic})[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;
const controlPictures = 0x2400;
const deleteCharacter = 0x7f;
const deletePicture = '\u2421';

/** Returns text with its hidden characters shown: escape as ␛, a right-to-left mark as ⟨U+202E⟩. */
export function visible(text: string): string {
  return text.replace(hidden, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(controlPictures + code);
    if (code === deleteCharacter) return deletePicture;
    return `⟨U+${hexOf(code)}⟩`;
  });
}

/** Returns a value as JSON of several lines that hides nothing: it reads as the same value. */
export function visibleJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2) ?? '';
  return json.replace(hidden, (character) => `\\u${hexOf(character.charCodeAt(0))}`);
}

function hexOf(code: number): string {
  return code.toString(16).toUpperCase().padStart(4, '0');
}

/** Returns the first line of text, short enough for one row. */
export function firstLine(text: string, longest = 300): string {
  const end = text.search(/[\r\n]/);
  const line = end === -1 ? text : `${text.slice(0, end)} …`;
  return visible(line.length > longest ? `${line.slice(0, longest)}…` : line);
}

/** Returns a value as text for one row. */
export function inline(value: unknown, longest = 300): string {
  if (typeof value === 'string') return firstLine(value, longest);
  if (value === undefined) return '';
  return firstLine(JSON.stringify(value) ?? String(value), longest);
}
