import { eastAsianWidth } from 'get-east-asian-width';

/** A character as people see it, with the columns that it takes. */
export interface Grapheme {
  readonly text: string;
  readonly width: number;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
const ascii = /^[ -~]*$/;
/** Characters that never join with another one of them: Latin, Greek, Cyrillic, signs, CJK. */
const single = new RegExp(
  [
    String.raw`^[ -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027`,
    String.raw`\u2030-\u205e\u2190-\u27ff\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff`,
    String.raw`\uff01-\uff60]*$`,
  ].join(''),
);
const seen = /[^\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Mn}\p{Me}\p{Cs}]/v;
const emoji = /^\p{RGI_Emoji}$/v;
const keycap = /^[\d#*]\u20e3$/;
const pictures = /\p{Extended_Pictographic}/gu;
/** Longest cluster that can be one emoji. */
const longestEmoji = 50;

/** Yields the characters of a text as people see them: an emoji of several signs is one. */
export function* eachGrapheme(text: string): Generator<Grapheme> {
  if (ascii.test(text)) {
    for (const character of text) yield { text: character, width: 1 };
    return;
  }
  if (single.test(text)) {
    for (const character of text) yield { text: character, width: characterWidth(character) };
    return;
  }
  for (const { segment } of segmenter.segment(text))
    yield { text: segment, width: graphemeWidth(segment) };
}

/** Returns the characters of a text as people see them. */
export function graphemes(text: string): Grapheme[] {
  return [...eachGrapheme(text)];
}

/**
 * Returns the columns that a text takes in a terminal. The rules are those of `string-width`, by
 * which Ink lays out.
 */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length;
  let width = 0;
  for (const grapheme of eachGrapheme(text)) width += grapheme.width;
  return width;
}

function graphemeWidth(cluster: string): number {
  const start = cluster.search(seen);
  if (start === -1) return 0;
  if (isEmoji(cluster)) return 2;
  const shown = cluster.slice(start);
  return hangulWidth(shown) ?? baseWidth(shown);
}

function isEmoji(cluster: string): boolean {
  if (emoji.test(cluster)) return true;
  if (cluster.length > longestEmoji) return false;
  if (keycap.test(cluster)) return true;
  return cluster.includes('\u200d') && (cluster.match(pictures)?.length ?? 0) >= 2;
}

/** Width of the first character, and of those behind it that take columns of their own. */
function baseWidth(cluster: string): number {
  const [first = '', ...rest] = cluster;
  return rest
    .filter((character) => /[\p{Mc}\uff00-\uffef]/u.test(character))
    .reduce((width, character) => width + characterWidth(character), characterWidth(first));
}

/** Returns the columns of one character that stands alone. */
export function characterWidth(character: string): number {
  return eastAsianWidth(character.codePointAt(0) as number);
}

const leading = /[\u1100-\u115f\ua960-\ua97c]/;
const vowel = /[\u1160-\u11a7\ud7b0-\ud7c6]/;
const trailing = /[\u11a8-\u11ff\ud7cb-\ud7fb]/;

/** Width of a cluster that begins with a Hangul letter: letters that join are one syllable. */
function hangulWidth(cluster: string): number | undefined {
  const letters = [...cluster].filter((character) => seen.test(character));
  const isLetter = (character = ''): boolean =>
    leading.test(character) || vowel.test(character) || trailing.test(character);
  if (!isLetter(letters[0])) return undefined;
  let width = 0;
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] as string;
    if (!isLetter(letter))
      return width + letters.slice(at).reduce((sum, rest) => sum + characterWidth(rest), 0);
    const joins = leading.test(letter) && vowel.test(letters[at + 1] ?? '');
    width += joins ? 2 : characterWidth(letter);
    if (joins) at += trailing.test(letters[at + 2] ?? '') ? 2 : 1;
  }
  return width;
}
