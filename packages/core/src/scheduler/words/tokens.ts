/** A word of a message, comparable, with its place in the message. */
export interface Token {
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /** Punctuation before it: none, one within a sentence, or one that ends a sentence. */
  readonly after: 'nothing' | 'comma' | 'sentence';
  /** True behind a quotation mark that is not the end of another word. */
  readonly isQuoted: boolean;
}

/** The words of a message, or of its beginning. */
export interface TokenLine {
  readonly tokens: readonly Token[];
  /** True when the text is words and punctuation throughout, and does not begin with a quote. */
  readonly isPlain: boolean;
  readonly endsWithQuestionMark: boolean;
}

const letter = String.raw`[\p{L}\p{M}\p{N}]`;
const picture = String.raw`[\p{Extended_Pictographic}\p{RI}]`;
const parts = [
  `(?<word>${letter}+(?:[.'’ʼ＇‘]${letter}+)*)`,
  String.raw`(?<sentence>[.!?;:…。！？：；\n])`,
  `(?<hyphen>(?<=${letter})-(?=${letter}))`,
  '(?<comma>[,–—，、-])',
  String.raw`(?<quote>["“”„«»‘’'\u0060])`,
  String.raw`(?<ignored>\s|#(?=\d)|${picture}[\p{Emoji_Modifier}\ufe0f\u200d]*)`,
].join('|');

/**
 * Splits a text into words. Each character is looked at once, but for a bounded number of steps at
 * the end of a word, so the time is linear.
 */
export function readTokens(
  text: string,
  contractions: Readonly<Record<string, string>>,
): TokenLine {
  const tokens: Token[] = [];
  const pattern = new RegExp(parts, 'uy');
  let after: Token['after'] = 'nothing';
  let isQuoted = false;
  let at = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const { word, sentence, comma, quote } = match.groups ?? {};
    at = pattern.lastIndex;
    if (quote !== undefined && tokens.length === 0) return { ...nothing, tokens };
    if (quote !== undefined) isQuoted = tokens.at(-1)?.end !== match.index;
    if (sentence !== undefined) after = 'sentence';
    else if (comma !== undefined && after === 'nothing') after = 'comma';
    if (word === undefined) continue;
    for (const part of comparableWords(word, contractions)) {
      tokens.push({ word: part, start: match.index, end: at, after, isQuoted });
      after = 'nothing';
      isQuoted = false;
    }
  }
  const last = tokens.at(-1)?.end ?? 0;
  return {
    tokens,
    isPlain: at === text.length,
    endsWithQuestionMark: /[?？]/.test(text.slice(last)),
  };
}

const nothing = { isPlain: false, endsWithQuestionMark: false };

function comparableWords(
  word: string,
  contractions: Readonly<Record<string, string>>,
): readonly string[] {
  const plain = comparableWord(word);
  return Object.hasOwn(contractions, plain) ? (contractions[plain] ?? '').split(' ') : [plain];
}

function comparableWord(word: string): string {
  return word
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[’ʼ＇‘]/g, "'");
}

const nameWord = new RegExp(`${letter}+(?:['’]${letter}+)*`, 'gu');

/** The comparable words of a name, at most those of its first 200 characters. */
export function wordsOfName(name: string): readonly string[] {
  const found = name.slice(0, 200).match(nameWord) ?? [];
  return found.map((word) => comparableWord(word).replace(/'s$/, ''));
}
