import type { CompiledLanguage, CompiledTargets } from './compiled-language.ts';
import type { JobTarget } from './job-command.ts';
import { matchesPhrase, type Phrase, phraseEnds, type Span } from './phrase.ts';

/**
 * A target as it is read from words, and the evidence that a task is meant.
 * - `sure`: the words say so.
 * - `known`: only a task whose name has the words.
 * - `whole`: only a task whose whole name the words are.
 */
export interface ReadTarget {
  readonly target: JobTarget;
  readonly evidence: 'sure' | 'known' | 'whole';
}

const mostWordsOfName = 8;
const mostWordsOfWholeName = 16;
const highestNumber = 99;

/** Reads the words of a slot; `undefined` when they are no target of that slot. */
export function readTarget(
  slot: string,
  span: Span,
  compiled: CompiledLanguage,
): ReadTarget | undefined {
  const { targets } = compiled;
  const direct = slot === 'it' || slot === 'one';
  const several = slot === 'it' || slot === 'tasks';
  const is = (phrases: readonly Phrase[]) => phrases.some((phrase) => isPhrase(phrase, span));
  if (is(targets.pronouns)) return direct ? sure({ kind: 'current' }) : undefined;
  if (is(targets.everything)) return slot === 'it' ? sure({ kind: 'all' }) : undefined;
  if (is(targets.all)) return several ? sure({ kind: 'all' }) : undefined;
  if (is(targets.current)) return sure({ kind: 'current' });
  if (is(targets.last)) return sure({ kind: 'last' });
  const phrases = direct ? [...targets.number, ...targets.bareNumber] : targets.number;
  return readNumber(phrases, span, compiled) ?? readName(span, compiled);
}

function sure(target: JobTarget): ReadTarget {
  return { target, evidence: 'sure' };
}

function isPhrase(phrase: Phrase, span: Span): boolean {
  return matchesPhrase(phrase, span, () => false);
}

function readNumber(
  phrases: readonly Phrase[],
  span: Span,
  { language }: CompiledLanguage,
): ReadTarget | undefined {
  const { numbers, ordinals } = language.targets;
  let number: number | undefined;
  const accepts = (name: string, start: number, end: number) => {
    if (end !== start + 1) return false;
    const word = span.words[start] ?? '';
    number = name === 'nth' ? own(ordinals, word) : (own(numbers, word) ?? digits(word));
    return number !== undefined;
  };
  if (!phrases.some((phrase) => matchesPhrase(phrase, span, accepts))) return undefined;
  return number === undefined ? undefined : sure({ kind: 'number', number });
}

function own(table: Readonly<Record<string, number>>, word: string): number | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

function digits(word: string): number | undefined {
  const number = /^\d{1,2}$/.test(word) ? Number(word) : 0;
  return number >= 1 && number <= highestNumber ? number : undefined;
}

function readName(span: Span, { targets }: CompiledLanguage): ReadTarget | undefined {
  for (const phrase of targets.nameFollows) {
    const end = Math.max(...phraseEnds(phrase, span));
    const words = end > 0 ? span.words.slice(end, span.end) : [];
    if (isName(words, targets.notInNames)) return named(words, 'sure');
  }
  const determiner = span.words[span.start] ?? '';
  const hasDeterminer = targets.determiners.has(determiner);
  const words = span.words.slice(span.start + (hasDeterminer ? 1 : 0), span.end).map(withoutCase);
  return isName(words, targets.notInNames)
    ? readKindOfWork(words, determiner, targets)
    : wholeName(words, determiner, targets);
}

function readKindOfWork(
  words: readonly string[],
  determiner: string,
  targets: CompiledTargets,
): ReadTarget | undefined {
  const hasDeterminer = targets.determiners.has(determiner);
  const last = words.at(-1) ?? '';
  const isTask = targets.taskWords.has(last);
  if (isTask || targets.likelyTaskWords.has(last))
    return words.length === 1
      ? undefined
      : named(words.slice(0, -1), evidenceOf(isTask && hasDeterminer));
  const subject = words.findIndex((word, index) => index > 0 && targets.subjectFollows.has(word));
  const work = words[subject < 0 ? words.length - 1 : subject - 1] ?? '';
  return targets.workWords.has(work)
    ? named(words, evidenceOf(hasDeterminer || words.length === 1))
    : wholeName(words, determiner, targets);
}

/** "The diary" may be a task of that name; "my diary" is the diary. */
function wholeName(
  words: readonly string[],
  determiner: string,
  { possessives }: CompiledTargets,
): ReadTarget | undefined {
  const isTooLong = words.length === 0 || words.length > mostWordsOfWholeName;
  return isTooLong || possessives.has(determiner) ? undefined : named(words, 'whole');
}

/** "The report's status" is about the report. */
function withoutCase(word: string): string {
  return word.replace(/'s$/, '');
}

function evidenceOf(isPlain: boolean): ReadTarget['evidence'] {
  return isPlain ? 'sure' : 'known';
}

function isName(words: readonly string[], notInNames: ReadonlySet<string>): boolean {
  return (
    words.length > 0 &&
    words.length <= mostWordsOfName &&
    !words.some((word) => notInNames.has(word))
  );
}

function named(words: readonly string[], evidence: ReadTarget['evidence']): ReadTarget {
  return { target: { kind: 'named', words: words.join(' ') }, evidence };
}
