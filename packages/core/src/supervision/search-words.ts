import { isPlainObject, type JsonValue } from '../base/json.ts';

/** Stop words in the most frequent languages of queries. */
const stopWords: ReadonlySet<string> = new Set(
  (
    'the and for are was were has have had not but you your our their his her its from ' +
    'with without into onto than then that this these those there here ' +
    'what when where which who whom whose why how can could will would shall should may ' +
    'might must does did done about over under between all any some ' +
    'more most other such only own same too very just also get give find show tell search ' +
    'look list please latest current today now new best top ' +
    'der die das den dem des ein eine einer eines einem einen und oder aber nicht ist sind ' +
    'war waren hat haben wird werden von vom zum zur mit ohne aus ' +
    'bei nach vor auf fur uber unter wie was wer wann warum welche welcher welches auch ' +
    'nur noch schon sehr heute ' +
    'les des une est sont dans par pour sur avec sans que qui quoi dont mais pas plus aux ' +
    'ces ses son leur ' +
    'los las una unos unas del por para con sin que como mas pero este esta estos estas ' +
    'una gli dei delle del per con che non come piu sono'
  ).split(' '),
);

/** Scripts that put no spaces between words: pairs of their characters stand for words. */
const unspaced = new RegExp(
  String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}` +
    String.raw`\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`,
  'u',
);
const wordPattern = /[\p{L}\p{N}]+/gu;
const ascii = /^[\0-\x7f]*$/;

const longestQuery = 1_000;
const mostWords = 50;
/** Words of this length and more are the same when all but their ending is: `prices`, `price`. */
const inflectedLength = 6;
const endingLength = 2;

/** Lower case without accents: `Café` and `cafe` are the same word. */
export function folded(text: string): string {
  const lower = text.toLowerCase();
  return ascii.test(lower) ? lower : lower.normalize('NFKD').replace(/\p{Mn}/gu, '');
}

/** Returns all words of a text, in their normal form. */
export function wordsOf(text: string): readonly string[] {
  return folded(text).match(wordPattern) ?? [];
}

/** True for text in a script that puts no spaces between words. */
export function isUnspaced(text: string): boolean {
  return unspaced.test(text);
}

/**
 * Returns the words of a query that a result should contain: of three letters at least, without
 * stop words, in their normal form.
 */
export function significantWords(query: string): readonly string[] {
  const words = new Set<string>();
  for (const [word] of folded(query.slice(0, longestQuery)).matchAll(wordPattern)) {
    if (words.size >= mostWords) break;
    if (unspaced.test(word)) for (const pair of pairsOf(word)) words.add(pair);
    else if ([...word].length >= 3 && !stopWords.has(word)) words.add(stem(word));
  }
  return [...words];
}

function pairsOf(word: string): readonly string[] {
  const characters = [...word];
  if (characters.length === 1) return [];
  return characters.slice(1).map((character, i) => `${characters[i] as string}${character}`);
}

function stem(word: string): string {
  return word.length < inflectedLength ? word : word.slice(0, -endingLength);
}

/**
 * Most characters of a result that are searched. A longer search would delay other work, and a long
 * result seldom has no word of the query.
 */
const longestResult = 1_000_000;

/**
 * True when one of the words occurs in a result, or when the result is too long to search. A
 * repetition of the query does not count.
 */
export function hasWord(words: readonly string[], query: string, content: JsonValue): boolean {
  const written = textOf(content, query);
  if (written.length > longestResult) return true;
  const text = folded(written);
  return words.some((word) => text.includes(word));
}

function textOf(content: JsonValue, query: string): string {
  if (typeof content === 'string') return content;
  if (!isPlainObject(content)) return JSON.stringify(content);
  return JSON.stringify(Object.entries(content).filter(([, value]) => value !== query));
}
