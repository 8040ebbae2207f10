/** The kind of a claim that can be looked up elsewhere. */
export type ClaimKind = 'number' | 'quote' | 'identifier' | 'name';

export interface Claim {
  readonly kind: ClaimKind;
  readonly text: string;
}

const quotes = /"([^"\n]{2,200})"|“([^”\n]{2,200})”|«([^»\n]{2,200})»/g;
/**
 * Addresses, and words in which letters meet digits or underscores: order numbers, versions, file
 * names.
 */
const identifiers = anyOf(
  /\bhttps?:\/\/[^\s<>"')\]]{1,500}/u,
  /[\p{L}\p{N}._%+-]{1,100}@[\p{L}\p{N}.-]{1,100}\.\p{L}{2,20}/u,
  new RegExp(
    String.raw`\b(?=[\p{L}\p{N}_-]{0,99}\p{L})(?=[\p{L}\p{N}_-]{0,99}[\p{N}_])` +
      String.raw`[\p{L}\p{N}]+(?:[_-][\p{L}\p{N}]+)*\b`,
    'u',
  ),
);
const numbers = anyOf(
  /(?<![\p{L}\p{N}_.,])[-−]?\d{1,3}(?:[, {2}]\d{3})+(?:\.\d+)?(?!\d)/u,
  /(?<![\p{L}\p{N}_])[-−]?\d+(?:\.\d+)?(?!\d)/u,
);
const names =
  /\p{Lu}[\p{L}'’-]*(?:\s+(?:(?:of|de|van|von|der|la|le|du|da)\s+)?\p{Lu}[\p{L}'’-]*)*/gu;

/** Returns the expression that finds what one of these finds; the first of them counts. */
function anyOf(...expressions: readonly RegExp[]): RegExp {
  return new RegExp(expressions.map(({ source }) => source).join('|'), 'gu');
}

/** A unit right behind a number is no part of an identifier: `28C`, `5km`, `3rd`. */
const numberWithUnit = /^\d+(?:\.\d+)?(?:\p{L}{1,3}|°\p{L})$/u;

/**
 * Claims of a text that can be looked up: quotes, addresses and identifiers, numbers, and proper
 * names, which are words with a capital letter that do not begin a sentence. What is found as one
 * kind is not looked for as another.
 */
export function claimsOf(text: string): readonly Claim[] {
  const claims: Claim[] = [];
  let rest = text.normalize('NFKC');
  const take = (
    pattern: RegExp,
    kind: ClaimKind,
    read: (match: RegExpMatchArray) => string | undefined,
  ): void => {
    rest = rest.replace(pattern, (...found) => {
      const match = found as RegExpMatchArray;
      const claim = read(match);
      if (claim === undefined) return match[0];
      claims.push({ kind, text: claim });
      // The end of a sentence is kept, and a found claim is no part of a name.
      return ` \u0000 ${/[.!?]$/.exec(match[0])?.[0] ?? ''}`;
    });
  };
  take(quotes, 'quote', (match) => match[1] ?? match[2] ?? match[3]);
  take(identifiers, 'identifier', ([found]) =>
    numberWithUnit.test(found) ? undefined : found.replace(/[.,;:]+$/, ''),
  );
  take(numbers, 'number', ([found]) => found);
  for (const name of properNames(rest)) claims.push({ kind: 'name', text: name });
  return claims;
}

/** Characters before a name in which the end of a sentence is looked for. */
const lookedBack = 20;

function properNames(text: string): readonly string[] {
  return [...text.matchAll(names)].flatMap((match) => {
    const before = text.slice(Math.max(0, match.index - lookedBack), match.index);
    const beginsSentence =
      before.trim() === '' || /[.!?:;•*#>\n-]\s*$/.test(before) || /\n\s*$/.test(before);
    const words = match[0].split(/\s+/);
    // The first word of a sentence has a capital letter whatever it is.
    const name = beginsSentence ? words.slice(1).join(' ') : match[0];
    return name.length < 2 || /^(?:I|I'm|I’m|I've|I’ve|I'll|I’ll|I'd|I’d)$/.test(name)
      ? []
      : [name];
  });
}

/** Texts that claims are looked up in. */
export class Evidence {
  readonly #text: string;
  readonly #numbers: readonly number[];

  constructor(texts: readonly string[]) {
    this.#text = even(texts.join('\n'));
    this.#numbers = [
      ...texts
        .join('\n')
        .normalize('NFKC')
        .matchAll(/\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?/g),
    ].map(([found]) => toNumber(found));
  }

  /**
   * Checks that a claim occurs: a number by its value, also rounded; a name also by the last of its
   * words; every other claim as it stands.
   */
  has({ kind, text }: Claim): boolean {
    if (kind === 'number') return this.#hasNumber(text);
    const wanted = even(text);
    if (this.#hasWords(wanted)) return true;
    const words = wanted.split(' ');
    return kind === 'name' && words.length > 1 && words.every((word) => this.#hasWords(word));
  }

  #hasWords(wanted: string): boolean {
    if (wanted === '') return true;
    for (let at = this.#text.indexOf(wanted); at >= 0; at = this.#text.indexOf(wanted, at + 1)) {
      const [before, after] = [this.#text[at - 1] ?? ' ', this.#text[at + wanted.length] ?? ' '];
      if (!/[\p{L}\p{N}]/u.test(before) && !/[\p{L}\p{N}]/u.test(after.replace('s', ' ')))
        return true;
    }
    return false;
  }

  #hasNumber(text: string): boolean {
    const value = Math.abs(toNumber(text));
    const decimals = /\.(\d+)$/.exec(text)?.[1]?.length ?? 0;
    const half = 10 ** -decimals / 2;
    // A shorter number may be a rounded one; one with more digits than its source is made up.
    return this.#numbers.some(
      (known) =>
        known === value ||
        (Math.abs(known - value) <= half + 1e-12 && decimals < decimalsOf(known)),
    );
  }
}

function decimalsOf(value: number): number {
  return /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0;
}

function toNumber(text: string): number {
  return Number(text.replace(/[, {2}]/g, '').replace('−', '-'));
}

function even(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/[’‘]/g, "'").replace(/\s+/g, ' ').trim();
}
