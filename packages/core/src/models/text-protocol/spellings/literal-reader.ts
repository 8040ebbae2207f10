import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { refuseAt } from './read-problem.ts';
import { readString } from './string-literal.ts';

/** Deeper values are refused, so that a hostile text cannot use up the stack. */
const deepest = 100;

const blank = /(?:\s|\/\/[^\n]*|#[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/)+/y;
const number = /[+-]?(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][+-]?\d+)?|[+-]?\.\d+(?:[eE][+-]?\d+)?/y;
const word = /[A-Za-z_$][\w$.-]*/y;
const quotes = new Map([
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
  ['“', '”'],
  ['„', '“”'],
  ['‘', '’'],
]);

const constants: ReadonlyMap<string, JsonValue> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['null', null],
  ['None', null],
]);

export interface LiteralOptions {
  /** The text was cut off: a value without its end is refused. @default false */
  readonly isCut?: boolean;
  /** Accepts words without quotes as strings, as in `{tool: look}`. @default true */
  readonly words?: boolean;
}

/**
 * Reads values as models write them: JSON, and literals of JavaScript and Python. It accepts any
 * quotes, names without quotes, trailing commas, comments and missing brackets at the end. Other
 * mistakes are refused with their place: to guess is worse than to read nothing.
 */
export class LiteralReader {
  readonly text: string;
  at: number;
  /** True when brackets at the end of the text were missing and taken as meant. */
  isCompleted = false;
  readonly #isCut: boolean;
  #words: boolean;
  #depth = 0;

  constructor(text: string, at = 0, { isCut = false, words = true }: LiteralOptions = {}) {
    this.text = text;
    this.at = at;
    this.#isCut = isCut;
    this.#words = words;
  }

  /** Skips blanks and comments. */
  skip(): void {
    this.match(blank);
  }

  /** Returns what a sticky pattern matches here, and goes behind it. */
  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  takes(char: string): boolean {
    if (this.text[this.at] !== char) return false;
    this.at++;
    return true;
  }

  /** @throws ReadProblem */
  refuse(reason: string, at = this.at): never {
    return refuseAt(this.text, at, reason);
  }

  /**
   * Reads without words as strings: in the arguments of a function they are variables.
   * @throws ReadProblem
   */
  withoutWords<Value>(read: () => Value): Value {
    const before = this.#words;
    this.#words = false;
    const value = read();
    this.#words = before;
    return value;
  }

  /** @throws ReadProblem */
  value(): JsonValue {
    this.skip();
    const char = this.text[this.at];
    if (char === undefined) this.refuse('a value is missing');
    if (char === '{') return this.#nested(() => this.#object());
    if (char === '[') return this.#nested(() => this.#list());
    return this.#isString() ? this.string() : this.#scalar();
  }

  #nested<Value>(read: () => Value): Value {
    if (++this.#depth > deepest) this.refuse(`brackets are nested more than ${deepest} deep`);
    this.at++;
    const value = read();
    this.#depth--;
    return value;
  }

  #object(): JsonObject {
    const members = new Map<string, JsonValue>();
    while (!this.#closes('}', members.size > 0)) {
      const at = this.at;
      const key = this.#isString() ? this.string() : this.match(word);
      if (key === undefined || key === '__proto__') this.refuse('a name was expected', at);
      if (members.has(key)) this.refuse(`"${key}" is given twice, again`, at);
      this.skip();
      if (!this.takes(':')) this.refuse(`a colon was expected behind "${key}"`);
      members.set(key, this.value());
      this.#separate('}');
    }
    return Object.fromEntries(members);
  }

  #list(): JsonValue[] {
    const items: JsonValue[] = [];
    while (!this.#closes(']', items.length > 0)) {
      items.push(this.value());
      this.#separate(']');
    }
    return items;
  }

  /** True behind the bracket that ends a value, and at the end of a text that lacks it. */
  #closes(bracket: string, hasParts: boolean): boolean {
    this.skip();
    if (this.takes(bracket)) return true;
    if (this.at < this.text.length) return false;
    // A text that ends before its first part or behind a comma lacks more than brackets.
    if (this.#isCut || !hasParts || !/["'`“”’}\])]\s*$/.test(this.text))
      this.refuse(`"${bracket}" is missing`);
    this.isCompleted = true;
    return true;
  }

  #separate(bracket: string): void {
    this.skip();
    if (this.at >= this.text.length || this.text[this.at] === bracket) return;
    if (this.takes(',')) return;
    const isBehindString = /["'`”’]\s*$/.test(this.text.slice(Math.max(0, this.at - 5), this.at));
    const hint = isBehindString ? ' (a quote within a string is written as \\")' : '';
    this.refuse(`a comma or "${bracket}" was expected${hint}`);
  }

  #isString(): boolean {
    return quotes.has(this.text[this.at] ?? '');
  }

  /** @throws ReadProblem */
  string(): string {
    const { value, end } = readString(
      this.text,
      this.at,
      quotes.get(this.text[this.at] as string) as string,
    );
    this.at = end;
    return value;
  }

  #scalar(): JsonValue {
    const start = this.at;
    const digits = this.match(number);
    if (digits !== undefined) return this.#number(digits, start);
    const name = this.match(word);
    const constant = name === undefined ? undefined : constants.get(name);
    if (constant !== undefined) return this.#delimited(constant, start);
    if (name === undefined || !this.#words || name === 'undefined' || name === 'NaN')
      this.refuse('a value was expected', start);
    return this.#delimited(name, start);
  }

  #number(digits: string, start: number): number {
    const value = Number(digits);
    if (/^[+-]?\d+$/.test(digits) ? !Number.isSafeInteger(value) : !Number.isFinite(value))
      this.refuse('the number has too many digits', start);
    return this.#delimited(value, start);
  }

  /** A number or word ends at a comma or bracket: `12 kg`, `2 + 3` and `1,2.5.6` are no values. */
  #delimited<Value>(value: Value, start: number): Value {
    this.skip();
    if (this.at < this.text.length && !/[,}\])]/.test(this.text[this.at] as string))
      this.refuse('a value was expected', start);
    return value;
  }
}
