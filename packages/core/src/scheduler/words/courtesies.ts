import type { CompiledLanguage } from './compiled-language.ts';
import { phraseEnds } from './phrase.ts';

/** A place at which the command can begin. */
export interface Beginning {
  readonly at: number;
  readonly asks: boolean;
  readonly inflects: boolean;
}

/** A place at which the command can end. */
export interface Ending {
  readonly at: number;
  readonly asks: boolean;
}

/** More courtesies than these are no part of a command; it bounds the time of a hostile text. */
const most = 8;

/** Returns the places behind courtesies, the beginning of the text first. */
export function beginnings(
  words: readonly string[],
  { before }: CompiledLanguage,
  names: readonly (readonly string[])[],
): readonly Beginning[] {
  const found: Beginning[] = [{ at: 0, asks: false, inflects: false }];
  for (let index = 0; index < found.length && found.length < most; index++) {
    const { at, asks } = found[index] as Beginning;
    const span = { words, start: at, end: words.length };
    for (const courtesy of before)
      for (const end of phraseEnds(courtesy.phrase, span))
        add(found, {
          at: end,
          asks: asks || courtesy.asks === true,
          inflects: courtesy.inflects === true,
        });
    for (const name of names)
      if (startsWith(words.slice(at), name))
        add(found, { at: at + name.length, asks, inflects: false });
  }
  return found.slice(0, most);
}

/** Returns the places before courtesies, the end of the text first. */
export function endings(
  words: readonly string[],
  { after }: CompiledLanguage,
  names: readonly (readonly string[])[],
): readonly Ending[] {
  const found: Ending[] = [{ at: words.length, asks: false }];
  for (let index = 0; index < found.length && found.length < most; index++) {
    const { at, asks } = found[index] as Ending;
    for (let start = Math.max(1, at - longestCourtesy); start < at; start++) {
      const courtesy = after.find(({ phrase }) =>
        phraseEnds(phrase, { words, start, end: at }).has(at),
      );
      if (courtesy !== undefined) add(found, { at: start, asks: asks || courtesy.asks === true });
    }
    for (const name of names)
      if (at > name.length && startsWith(words.slice(at - name.length, at), name))
        add(found, { at: at - name.length, asks });
  }
  return found.slice(0, most);
}

const longestCourtesy = 6;

function startsWith(words: readonly string[], name: readonly string[]): boolean {
  return name.length > 0 && name.every((word, index) => words[index] === word);
}

function add<Place extends Ending | Beginning>(found: Place[], place: Place): void {
  const isKnown = found.some(
    (known) => known.at === place.at && JSON.stringify(known) === JSON.stringify(place),
  );
  if (!isKnown) found.push(place);
}
