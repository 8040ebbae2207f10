import { isPlainWord } from '../base/text/sensitive-keys.ts';
import { CutValues } from './cut-values.ts';
import { encodedForms } from './encoded-forms.ts';

/** The description of a value that needs a replacement. It does not hold the value itself. */
export interface RedactedValue {
  readonly rule: string;
  /** From 1; the same for the same value wherever it stands. */
  readonly number: number;
}

export type Replace = (redacted: RedactedValue) => string;

export function defaultReplacement({ number }: RedactedValue): string {
  return `[redacted ${number}]`;
}

/** Numbers are replaced by numbers, so that arguments still fit the schemas of their tools. */
const firstNumber = 990_000_000;

interface KnownValue {
  readonly text: string;
  readonly isNumber: boolean;
  readonly rule: string;
  /** From its first use on. */
  number: number | undefined;
  replacement: string | undefined;
  /** True when the value is looked for in every text. */
  isSpread: boolean;
}

/** Shorter values are looked for as whole words only, where nothing depends on the word. */
export const shortestAnywhere = 8;
const shortestWord = 3;
/** Longer values are looked for one by one: expressions of their size cannot be made. */
const longestInExpression = 1_000;
/** About so many characters of alternatives are still found at once. */
const longestExpression = 20_000;

/** The values that are taken out, each with what stands in its place. */
export class KnownValues {
  readonly #replace: Replace;
  readonly #byText = new Map<string, KnownValue>();
  readonly #replacements = new Map<string, string | number>();
  readonly #used: KnownValue[] = [];
  #search: Search | undefined;

  constructor(replace: Replace) {
    this.#replace = replace;
  }

  /** Remembers a value. `spread`: what else of the ledger has it loses it too. */
  add(value: string | number, rule: string, spread: boolean): void {
    const text = String(value);
    let known = this.#byText.get(text);
    if (known === undefined) {
      known = {
        text,
        isNumber: typeof value === 'number',
        rule,
        number: undefined,
        replacement: undefined,
        isSpread: false,
      };
      this.#byText.set(text, known);
    }
    if (!spread || known.isSpread || !mayBeSpread(text)) return;
    known.isSpread = true;
    this.#search = undefined;
  }

  /** Returns the replacement of a value. */
  replacementOf(value: string | number, rule: string): string {
    this.add(value, rule, false);
    return this.#use(this.#byText.get(String(value)) as KnownValue);
  }

  /** Returns the replacement of a number. */
  numberFor(value: number, rule: string): number {
    this.add(value, rule, false);
    const number = firstNumber + this.#numberOf(this.#byText.get(String(value)) as KnownValue);
    this.#replacements.set(String(number), number);
    return number;
  }

  /** Numbers are given in the order of use. */
  #numberOf(known: KnownValue): number {
    if (known.number === undefined) {
      this.#used.push(known);
      known.number = this.#used.length;
    }
    return known.number;
  }

  #use(known: KnownValue): string {
    const number = this.#numberOf(known);
    if (known.isNumber) return String(this.numberFor(Number(known.text), known.rule));
    known.replacement ??= this.#replace({ rule: known.rule, number });
    this.#replacements.set(known.replacement, known.replacement);
    return known.replacement;
  }

  /** The replacements of the values that were taken out. */
  get replacements(): readonly (string | number)[] {
    return [...this.#replacements.values()];
  }

  /** Number of values that each rule took out. */
  get counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { rule } of this.#used) counts.set(rule, (counts.get(rule) ?? 0) + 1);
    return counts;
  }

  isReplacement(text: string): boolean {
    return this.#replacements.has(text);
  }

  /** Returns the replacement of a known number; `undefined` for an unknown one. */
  replacedNumber(value: number): number | undefined {
    const known = this.#byText.get(String(value));
    return known?.isSpread === true ? this.numberFor(value, known.rule) : undefined;
  }

  /** Checks that a number is the replacement of another one. */
  isNumberFor(value: number): boolean {
    return (
      Number.isInteger(value) && value > firstNumber && value <= firstNumber + this.#used.length
    );
  }

  /**
   * A text without the values that are known. `words`: also without the short ones, and without
   * what is left of long ones where it was cut.
   */
  replaceIn(text: string, words: boolean): string {
    this.#search ??= new Search([...this.#byText.values()].filter(({ isSpread }) => isSpread));
    const replacementOf = (known: KnownValue): string => this.#use(known);
    const left = this.#search.replaceIn(text, words, replacementOf);
    return words ? this.#search.replaceCut(left, replacementOf) : left;
  }

  /** Checks that a text has a known value. */
  isFoundIn(text: string): boolean {
    this.#search ??= new Search([...this.#byText.values()].filter(({ isSpread }) => isSpread));
    return this.#search.replaceIn(text, true, () => '') !== text;
  }

  /**
   * The rules of known values that a text still has. What consists of digits alone may be part of
   * anything, and is not looked for.
   */
  rulesFoundIn(text: string): readonly string[] {
    const telling = [...this.#byText.values()].filter(
      ({ isSpread, text: value }) => isSpread && !/^\d+$/.test(value),
    );
    return new Search(telling).rulesFoundIn(text);
  }
}

function mayBeSpread(text: string): boolean {
  return text.trim().length >= shortestWord && !isPlainWord(text);
}

/** Looks for many values at once. */
class Search {
  readonly #long: readonly string[];
  readonly #anywhere: readonly RegExp[];
  readonly #encoded: readonly RegExp[];
  readonly #words: readonly RegExp[];
  readonly #byForm = new Map<string, KnownValue>();
  readonly #cut: CutValues<KnownValue>;

  constructor(values: readonly KnownValue[]) {
    const long = values.filter(({ text }) => text.length >= shortestAnywhere);
    const inExpression = (form: string): boolean => form.length <= longestInExpression;
    const short = values.filter(({ text }) => text.length < shortestAnywhere);
    for (const value of values) this.#byForm.set(value.text, value);
    for (const value of long) this.#byForm.set(value.text.toLowerCase(), value);
    this.#cut = new CutValues(
      long.filter(({ text }) => !/^\d+$/.test(text)).map((known) => ({ text: known.text, known })),
    );
    const encoded: string[] = [];
    for (const value of long) {
      for (const form of encodedForms(value.text)) {
        if (form.length < shortestAnywhere || this.#byForm.has(form)) continue;
        this.#byForm.set(form, value);
        encoded.push(form);
      }
    }
    this.#long = [...long.map(({ text }) => text), ...encoded]
      .filter((form) => !inExpression(form))
      .sort((a, b) => b.length - a.length);
    this.#anywhere = anyOf(
      long.map(({ text }) => text).filter(inExpression),
      (one) => (/^\d+$/.test(one) ? `(?<!\\d)${one}(?!\\d)` : escapePattern(one)),
      'gi',
    );
    this.#encoded = anyOf(encoded.filter(inExpression), escapePattern, 'g');
    this.#words = anyOf(
      short.map(({ text }) => text),
      (one) => `(?<![\\p{L}\\p{N}_])${escapePattern(one)}(?![\\p{L}\\p{N}_])`,
      'gu',
    );
  }

  replaceIn(text: string, words: boolean, replacementOf: (known: KnownValue) => string): string {
    const replaced = (found: string): string => {
      const known = this.#valueOf(found);
      return known === undefined ? '[redacted]' : replacementOf(known);
    };
    let left = text;
    for (const form of this.#long)
      if (form.length <= left.length) left = left.replaceAll(form, replaced);
    for (const pattern of words
      ? [...this.#anywhere, ...this.#encoded, ...this.#words]
      : [...this.#anywhere, ...this.#encoded]) {
      left = left.replace(pattern, replaced);
    }
    return left;
  }

  /** Replaces the rest of a value where the text was cut. */
  replaceCut(text: string, replacementOf: (known: KnownValue) => string): string {
    return this.#cut.replaceIn(text, replacementOf);
  }

  rulesFoundIn(text: string): readonly string[] {
    const rules = new Set<string>();
    this.replaceIn(text, false, ({ rule }) => {
      rules.add(rule);
      return '';
    });
    return [...rules];
  }

  #valueOf(found: string): KnownValue | undefined {
    // Case folding of a few letters is not what `toLowerCase` does.
    return this.#byForm.get(found) ?? this.#byForm.get(found.toLowerCase());
  }
}

/** Regular expressions that find any of these texts, the longest first. */
export function anyOf(
  texts: readonly string[],
  written: (text: string) => string,
  flags: string,
): readonly RegExp[] {
  const sorted = [...new Set(texts)].sort((a, b) => b.length - a.length);
  const patterns: RegExp[] = [];
  let alternatives: string[] = [];
  let length = 0;
  for (const [i, text] of sorted.entries()) {
    alternatives.push(written(text));
    length += text.length;
    if (length < longestExpression && i < sorted.length - 1) continue;
    patterns.push(new RegExp(alternatives.join('|'), flags));
    alternatives = [];
    length = 0;
  }
  return patterns;
}

/** A text as a regular expression that finds it. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
