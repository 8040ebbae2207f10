/** A value with what stands in its place. */
export interface CutValue<Known> {
  /** As it may be written. */
  readonly text: string;
  readonly known: Known;
}

/** Where texts are cut: before and behind dots, and at their ends. */
const cuts = /"?(?:\.{3}|…)"?/g;
const shortestAtDots = 4;
const shortestAtEnd = 6;
const longestLook = 400;

/**
 * Finds the beginnings and ends of values that are left where a text was cut, as messages about
 * errors and previews are.
 */
export class CutValues<Known> {
  readonly #byBeginning = new Map<string, CutValue<Known>[]>();
  readonly #byEnd = new Map<string, CutValue<Known>[]>();

  constructor(values: readonly CutValue<Known>[]) {
    for (const { text, known } of values) {
      const value = { text: text.toLowerCase(), known };
      add(this.#byBeginning, value.text.slice(0, shortestAtDots), value);
      add(this.#byEnd, value.text.slice(-shortestAtDots), value);
    }
  }

  replaceIn(text: string, replacementOf: (known: Known) => string): string {
    if (this.#byBeginning.size === 0) return text;
    const lower = text.toLowerCase();
    // Some letters become two, and then places are no longer the same.
    if (lower.length !== text.length) return text;
    const found: { readonly from: number; readonly to: number; readonly known: Known }[] = [];
    for (const { at, least, side } of places(text)) {
      const part =
        side === 'before' ? this.#before(lower, at, least) : this.#behind(lower, at, least);
      if (part !== undefined) found.push(part);
    }
    let left = '';
    let done = 0;
    for (const { from, to, known } of found.sort((a, b) => a.from - b.from)) {
      if (from < done) continue;
      left += text.slice(done, from) + replacementOf(known);
      done = to;
    }
    return left + text.slice(done);
  }

  /** The beginning of a value that ends at a place. */
  #before(
    text: string,
    to: number,
    least: number,
  ): { readonly from: number; readonly to: number; readonly known: Known } | undefined {
    for (let from = Math.max(0, to - longestLook); from <= to - least; from++) {
      const part = text.slice(from, to);
      const value = this.#byBeginning
        .get(part.slice(0, shortestAtDots))
        ?.find((one) => one.text.startsWith(part));
      if (value !== undefined) return { from, to, known: value.known };
    }
    return undefined;
  }

  /** The end of a value that begins at a place. */
  #behind(
    text: string,
    from: number,
    least: number,
  ): { readonly from: number; readonly to: number; readonly known: Known } | undefined {
    for (let to = Math.min(text.length, from + longestLook); to >= from + least; to--) {
      const part = text.slice(from, to);
      const value = this.#byEnd
        .get(part.slice(-shortestAtDots))
        ?.find((one) => one.text.endsWith(part));
      if (value !== undefined) return { from, to, known: value.known };
    }
    return undefined;
  }
}

function add<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const all = map.get(key);
  if (all === undefined) map.set(key, [value]);
  else all.push(value);
}

interface Place {
  readonly at: number;
  readonly least: number;
  readonly side: 'before' | 'behind';
}

function* places(text: string): Generator<Place> {
  yield { at: 0, least: shortestAtEnd, side: 'behind' };
  yield { at: text.length, least: shortestAtEnd, side: 'before' };
  for (const match of text.matchAll(cuts)) {
    yield { at: match.index, least: shortestAtDots, side: 'before' };
    yield { at: match.index + match[0].length, least: shortestAtDots, side: 'behind' };
  }
}
