/**
 * A text whose every character can be seen: what turns the direction of writing, has no width or controls a terminal would let a text look like
 * another one. Such characters are written as `\u202e`.
 */
export function visibleText(text: string): string {
  return text.replaceAll(hidden, (character) => {
    const code = (character.codePointAt(0) as number).toString(16).padStart(4, '0');
    return code.length === 4 ? `\\u${code}` : `\\u{${code}}`;
  });
}

/** Control characters but for the line feed and the tab; format characters; separators of lines and paragraphs; halves of pairs; fillers that are seen as nothing. */
const hidden = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115f\u1160\u3164\uffa0]/gu;
