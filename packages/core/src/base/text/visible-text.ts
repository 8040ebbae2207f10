/**
 * Characters that are invisible, look like a blank, or control the terminal: control characters
 * except line feed and tab, marks of the writing direction, characters without width, variant
 * selectors and fillers, tags, separators of lines and paragraphs, the empty Braille pattern, and
 * halves of characters. With any of them a text could look like another one.
 */
const control = String.raw`\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}`;
const hidden = String.raw`(?![\n\t])[${control}\p{Default_Ignorable_Code_Point}\u2800]`;

// Parts of a picture are visible: the joiner between pictures, and the selectors behind a picture
// and behind a key.
const picture = String.raw`[\p{Extended_Pictographic}\u{1f3fb}-\u{1f3ff}]`;
const partOfPicture = [
  String.raw`(?<=${picture})\ufe0f`,
  String.raw`(?<=${picture}\ufe0f?)\u200d(?=\p{Extended_Pictographic})`,
  String.raw`(?<=[\d#*])\ufe0f(?=\u20e3)`,
].join('|');

const hiddenInText = new RegExp(`(?!${partOfPicture})${hidden}`, 'gu');
const hiddenInLine = new RegExp(String.raw`[\n\t]|(?!${partOfPicture})${hidden}`, 'gu');
const hiddenInJson = new RegExp(hidden, 'gu');

/**
 * Returns a text with only visible characters; invisible ones are written as `\u202e`. Line feeds
 * and tabs stay, and so do pictures made of several signs.
 */
export function visibleText(text: string): string {
  return text.replaceAll(hiddenInText, escaped);
}

/** The same on one line: line feeds and tabs are written as `\n` and `\t`. */
export function visibleLine(text: string): string {
  return text.replaceAll(hiddenInLine, escaped);
}

/** Returns a value as JSON with only visible characters; read again it is the same value. */
export function visibleJson(value: unknown, indent?: number): string {
  const json: string | undefined = JSON.stringify(value, undefined, indent);
  return (json ?? 'null').replaceAll(hiddenInJson, (character) =>
    character.split('').map(unitEscaped).join(''),
  );
}

function escaped(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  const code = character.codePointAt(0) as number;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : unitEscaped(character);
}

function unitEscaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
