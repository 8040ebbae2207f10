import { editDistance } from '../../base/nearest-name.ts';
import type { TaskInfo } from '../task-info.ts';
import type { JobLanguage } from './job-language.ts';
import { wordsOfName } from './tokens.ts';

/** Ranks of a match: a larger one is closer. */
const ranks = {
  whole: 6,
  words: 5,
  similarWhole: 4,
  similar: 3,
  subject: 2,
  description: 1,
  none: 0,
} as const;

interface NamedTask {
  readonly task: TaskInfo;
  readonly name: readonly string[];
}

/** A task with the closeness of words to it. */
interface RankedTask {
  readonly task: TaskInfo;
  readonly rank: number;
}

/**
 * Names of tasks, read once for all targets that a message may have. Each word is looked up once:
 * a hostile message has hundreds of parts that could be names, made of few words.
 */
export class TaskNames {
  readonly tasks: readonly TaskInfo[];
  /** Articles and prepositions, which do not tell one task from another. */
  readonly #fillers: ReadonlySet<string>;
  /** Kinds of work, which a name may leave out. */
  readonly #workWords: ReadonlySet<string>;
  readonly #having = new Map<string, ReadonlySet<NamedTask>>();
  readonly #ranked = new Map<string, readonly RankedTask[]>();
  #named: readonly NamedTask[] | undefined;

  constructor(tasks: readonly TaskInfo[], languages: readonly JobLanguage[]) {
    this.tasks = tasks;
    this.#fillers = new Set(languages.flatMap(({ targets }) => targets.fillers));
    this.#workWords = new Set(languages.flatMap(({ targets }) => targets.workWords));
  }

  /** Returns the tasks that words mean best, of those that are allowed. */
  find(
    words: string,
    isAllowed: (task: TaskInfo) => boolean,
    isWholeName: boolean,
  ): readonly TaskInfo[] {
    const found = this.#rankedBy(words).filter(
      ({ task, rank }) => (!isWholeName || isWhole(rank)) && isAllowed(task),
    );
    const best = found.reduce((most, { rank }) => Math.max(most, rank), 0);
    return found.filter(({ rank }) => rank === best).map(({ task }) => task);
  }

  #rankedBy(words: string): readonly RankedTask[] {
    const known = this.#ranked.get(words);
    if (known !== undefined) return known;
    const said = this.#significant(words.split(' '));
    const made = this.#candidates(said)
      .map((named) => ({ task: named.task, rank: this.#rank(said, named) }))
      .filter(({ rank }) => rank > ranks.none);
    this.#ranked.set(words, made);
    return made;
  }

  /** Returns the tasks that have the rarest of the words; only kinds of work may be missing. */
  #candidates(said: readonly string[]): readonly NamedTask[] {
    const subject = said.filter((word) => !this.#workWords.has(word));
    let rarest: ReadonlySet<NamedTask> | undefined;
    for (const word of subject.length > 0 ? subject : said) {
      const having = this.#tasksHaving(word);
      if (rarest === undefined || having.size < rarest.size) rarest = having;
      if (having.size === 0) break;
    }
    return [...(rarest ?? [])];
  }

  #tasksHaving(word: string): ReadonlySet<NamedTask> {
    const known = this.#having.get(word);
    if (known !== undefined) return known;
    this.#named ??= this.tasks.map((task) => ({
      task,
      name: this.#significant(wordsOfName(task.name)),
    }));
    const having = new Set(
      this.#named.filter(({ name, task }) => resembles([word], name) || isDescribed(word, task)),
    );
    this.#having.set(word, having);
    return having;
  }

  #significant(words: readonly string[]): readonly string[] {
    return words.filter((word) => word !== '' && !this.#fillers.has(word));
  }

  /** Tells how close words are to a task. */
  #rank(said: readonly string[], { name, task }: NamedTask): number {
    const rank = rankInName(said, name);
    if (rank !== ranks.none) return rank;
    const subject = said.filter((word) => !this.#workWords.has(word));
    if (subject.length > 0 && resembles(subject, name)) return ranks.subject;
    return said.every((word) => resembles([word], name) || isDescribed(word, task))
      ? ranks.description
      : ranks.none;
  }
}

/** Looks for a word in the beginning of a description and in the name of the runnable. */
function isDescribed(word: string, { description = '', runnable }: TaskInfo): boolean {
  return [description, runnable].some((text) => {
    const beginning = text.slice(0, 200);
    // Most texts do not have it: looking for it is faster than reading their words.
    return beginning.toLowerCase().includes(word) && wordsOfName(beginning).includes(word);
  });
}

function isWhole(rank: number): boolean {
  return rank === ranks.whole || rank === ranks.similarWhole;
}

function rankInName(said: readonly string[], name: readonly string[]): number {
  if (covers(said, name)) return covers(name, said) ? ranks.whole : ranks.words;
  if (!resembles(said, name)) return ranks.none;
  return resembles(name, said) ? ranks.similarWhole : ranks.similar;
}

function covers(words: readonly string[], others: readonly string[]): boolean {
  return words.every((word) => others.includes(word));
}

function resembles(words: readonly string[], others: readonly string[]): boolean {
  return words.every((word) => others.some((other) => areSimilar(word, other)));
}

const shortestStem = 4;
const longestEnding = 4;
const shortestMistyped = 5;
const longestMistyped = 40;

/** Forms of one word, such as `battery` and `batteries`, or one letter that is wrong. */
function areSimilar(said: string, other: string): boolean {
  if (said === other) return true;
  const longer = Math.max(said.length, other.length);
  const shorter = Math.min(said.length, other.length);
  if (shorter < shortestStem) return false;
  const shared = sharedBeginning(said, other);
  if (shared >= shortestStem && shared >= shorter - 1 && longer - shared <= longestEnding)
    return true;
  const mayBeMistyped =
    shorter >= shortestMistyped && longer <= longestMistyped && longer - shorter <= 1;
  return mayBeMistyped && editDistance(said, other) <= 1;
}

function sharedBeginning(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
