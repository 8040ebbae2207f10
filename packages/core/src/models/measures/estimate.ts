import type { Model } from '../model.ts';

/**
 * A count of tokens from a text, or a rough one from its length, four characters to a token. For
 * budgets, for the window, and for calls whose usage was lost.
 *
 * A text is read once, character by character, without a tokenizer and without allocating anything:
 * words, numbers, punctuation and scripts cost what they cost on average with OpenAI's
 * `o200k_base`. `estimate.test.ts` compares both on prose, code, JSON, logs and nine languages:
 * there the estimate is at most 10 % too low and 25 % too high. Old and small vocabularies need
 * more for scripts other than Latin.
 */
export function estimateTokens(text: string | number): number {
  return Math.ceil(typeof text === 'string' ? hundredths(text) / 100 : text / 4);
}

/** Tokens of a text for this model: as its `countTokens` counts, else estimated. */
export function tokensOf(model: Model, text: string): number {
  return model.countTokens?.(text) ?? estimateTokens(text);
}

const none = 0;
const lower = 1;
const upper = 2;
const digit = 3;
const mark = 4;
const blank = 5;
const newline = 6;
const wide = 7;

/** Classes of the ASCII characters. */
const classes = Uint8Array.from({ length: 128 }, (_, code) => classOf(code));

function classOf(code: number): number {
  if (code === 10 || code === 13) return newline;
  if (code <= 32) return blank;
  if (code >= 48 && code <= 57) return digit;
  if (code >= 65 && code <= 90) return upper;
  return code >= 97 && code <= 122 ? lower : mark;
}

/**
 * Hundredths of a token. Each character costs by its class and by how long the run of its class
 * already is.
 */
function hundredths(text: string): number {
  let cost = 0;
  let run = 0;
  let last = none;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 128) {
      const script = costOf(code);
      // Accented letters are part of the word that they are in.
      cost += script;
      last = script === accented ? (last === lower || last === upper ? last : lower) : wide;
      run = script === accented ? run + 1 : 0;
      continue;
    }
    const now = classes[code] ?? mark;
    // A capital begins a word, and the small letters behind it go on with it.
    const goesOn = now === last || (now === lower && last === upper && run === 1);
    run = goesOn ? run + 1 : 1;
    cost += asciiCost(now, run, last);
    last = now;
  }
  return cost;
}

function asciiCost(now: number, run: number, last: number): number {
  switch (now) {
    case lower:
      return run === 1 ? (last === digit || last === upper ? 115 : 100) : run > 6 ? 18 : 0;
    case upper:
      return run === 1 ? (last === digit ? 115 : 100) : 27;
    case digit:
      // Unlike a word, a number does not take the blank before it with it.
      return run === 1 ? (last === blank ? 185 : 100) : run % 3 === 1 ? 100 : 0;
    case mark:
      return run === 1 ? 90 : 35;
    case newline:
      return run === 1 ? (last === mark ? 35 : 90) : 3;
    default:
      // One blank belongs to what follows it; the rest of an indentation is one token.
      return run === 2 ? 70 : run > 2 ? 2 : last === newline ? 30 : 3;
  }
}

const accented = 45;

/** By script; `o200k_base` has learned the words of the larger ones. */
function costOf(code: number): number {
  if (code < 0x250) return accented;
  if (code < 0x530) return 27;
  if (code < 0xe00) return 40;
  if (code < 0x1100) return 50;
  if (code < 0x2000) return 60;
  if (code < 0x2e80) return 100;
  if (code < 0x3100) return 82;
  if (code < 0xac00) return 80;
  if (code < 0xd800) return 65;
  return 95;
}
