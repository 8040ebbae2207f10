/** A phrase of a `JobLanguage` as it is matched. */
export type Phrase = readonly PhraseItem[];

type PhraseItem =
  | { readonly kind: 'word'; readonly word: string }
  | { readonly kind: 'slot'; readonly name: string }
  | { readonly kind: 'choice'; readonly options: readonly Phrase[] };

/** Part of a text, as the words between two places. */
export interface Span {
  readonly words: readonly string[];
  readonly start: number;
  readonly end: number;
}

/** Accepts the words from `start` to `end` for a slot. */
export type AcceptsSlot = (name: string, start: number, end: number) => boolean;

/** Reads a phrase of a language; its groups are `(…|…)` without the brackets. */
export function readPhrase(source: string, groups: Readonly<Record<string, string>>): Phrase {
  const whole = source.replace(/<(\w+)>/g, (_, name: string) => {
    const group = groups[name];
    if (group === undefined) throw new TypeError(`no group <${name}>, in the phrase "${source}"`);
    return `(${group})`;
  });
  const signs = whole.match(/[()[\]|]|\{\w+\}|[^\s()[\]|{}]+/g) ?? [];
  const reader = { signs, at: 0 };
  const options = readOptions(reader);
  if (reader.at < signs.length) throw new TypeError(`bracket too many in the phrase "${source}"`);
  return options.length === 1 ? (options[0] as Phrase) : [{ kind: 'choice', options }];
}

interface Reader {
  readonly signs: readonly string[];
  at: number;
}

/** Reads up to the closing bracket, or to the end. */
function readOptions(reader: Reader): Phrase[] {
  const options: PhraseItem[][] = [[]];
  for (; reader.at < reader.signs.length; reader.at++) {
    const sign = reader.signs[reader.at] as string;
    if (sign === ')' || sign === ']') break;
    if (sign === '|') options.push([]);
    else options.at(-1)?.push(readItem(reader, sign));
  }
  return options;
}

function readItem(reader: Reader, sign: string): PhraseItem {
  if (sign.startsWith('{')) return { kind: 'slot', name: sign.slice(1, -1) };
  if (sign !== '(' && sign !== '[') return { kind: 'word', word: sign };
  reader.at++;
  const options = readOptions(reader);
  return { kind: 'choice', options: sign === '[' ? [...options, []] : options };
}

/** Checks that a phrase is the whole span. */
export function matchesPhrase(phrase: Phrase, span: Span, accepts: AcceptsSlot): boolean {
  return run(phrase, 0, span.start, { span, accepts }, (at) => at === span.end);
}

/** Returns the places at which a phrase that begins with the span can end. */
export function phraseEnds(phrase: Phrase, span: Span): ReadonlySet<number> {
  const ends = new Set<number>();
  run(phrase, 0, span.start, { span, accepts: () => false }, (at) => {
    ends.add(at);
    return false;
  });
  return ends;
}

interface Run {
  readonly span: Span;
  readonly accepts: AcceptsSlot;
}

/**
 * Matches items from `index` on. A slot is accepted after what stands behind it: most spans fail
 * there, and looking at a name takes longer.
 */
function run(
  phrase: Phrase,
  index: number,
  at: number,
  context: Run,
  then: (at: number) => boolean,
): boolean {
  const item = phrase[index];
  if (item === undefined) return then(at);
  const { words, end } = context.span;
  if (item.kind === 'word')
    return at < end && words[at] === item.word && run(phrase, index + 1, at + 1, context, then);
  if (item.kind === 'choice')
    return item.options.some((option) =>
      run(option, 0, at, context, (to) => run(phrase, index + 1, to, context, then)),
    );
  for (let to = at + 1; to <= end; to++) {
    const found = run(
      phrase,
      index + 1,
      to,
      context,
      (stop) => then(stop) && context.accepts(item.name, at, to),
    );
    if (found) return true;
  }
  return false;
}

/** Words with which a phrase can begin, `undefined` when it can begin with a slot. */
export function firstWords(phrase: Phrase): ReadonlySet<string> | undefined {
  return edgeWords(phrase, (items) => items);
}

/** Words with which a phrase can end, `undefined` when it can end with a slot. */
export function lastWords(phrase: Phrase): ReadonlySet<string> | undefined {
  return edgeWords(phrase, (items) => items.toReversed());
}

type Ordered = (items: Phrase) => Phrase;

function edgeWords(phrase: Phrase, ordered: Ordered): ReadonlySet<string> | undefined {
  const words = new Set<string>();
  const complete = addEdge(phrase, ordered, words);
  return complete === 'slot' ? undefined : words;
}

/** Tells whether the edge is a slot, is closed by a word, or may be empty. */
function addEdge(phrase: Phrase, ordered: Ordered, words: Set<string>): 'slot' | 'word' | 'empty' {
  for (const item of ordered(phrase)) {
    if (item.kind === 'slot') return 'slot';
    if (item.kind === 'word') {
      words.add(item.word);
      return 'word';
    }
    const edges = item.options.map((option) => addEdge(option, ordered, words));
    if (edges.includes('slot')) return 'slot';
    if (!edges.includes('empty')) return 'word';
  }
  return 'empty';
}
