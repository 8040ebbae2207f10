import { editDistance } from '../../base/nearest-name.ts';
import type { TaskInfo } from '../task-info.ts';
import { wordsOfName } from './tokens.ts';

/** Words that do not tell one task from another. */
export interface CommonWords {
  /** Articles and prepositions. */
  readonly fillers: ReadonlySet<string>;
  /** Kinds of work, which a name may leave out. */
  readonly workWords: ReadonlySet<string>;
}

/** Ranks of a match: a larger one is closer. */
const ranks = { whole: 5, words: 4, similar: 3, subject: 2, description: 1, none: 0 } as const;

/** Rank of the match that is the whole name. */
export const wholeName: number = ranks.whole;

/** Tells how close words are to a task; 0 when they do not mean it. */
export function nameRank(
  said: readonly string[],
  task: TaskInfo,
  { fillers, workWords }: CommonWords,
): number {
  const own = said.filter((word) => !fillers.has(word));
  if (own.length === 0) return ranks.none;
  const name = wordsOfName(task.name).filter((word) => !fillers.has(word));
  const inName = (word: string) => name.includes(word);
  const likeName = (word: string) => name.some((other) => areSimilar(word, other));
  if (own.every(inName) && name.every((word) => own.includes(word))) return ranks.whole;
  if (own.every(inName)) return ranks.words;
  if (own.every(likeName)) return ranks.similar;
  const subject = own.filter((word) => !workWords.has(word));
  if (subject.length > 0 && subject.every(likeName)) return ranks.subject;
  const described = [...wordsOfName(task.description ?? ''), ...wordsOfName(task.runnable)];
  const isDescribed = own.every((word) => likeName(word) || described.includes(word));
  return isDescribed ? ranks.description : ranks.none;
}

const shortestStem = 4;
const shortestMistyped = 5;

/** Forms of one word, such as `battery` and `batteries`, or one letter that is wrong. */
function areSimilar(said: string, other: string): boolean {
  if (said === other) return true;
  const shared = sharedBeginning(said, other);
  const longer = Math.max(said.length, other.length);
  const shorter = Math.min(said.length, other.length);
  if (shared >= shortestStem && shared >= shorter - 1 && longer - shared <= 4) return true;
  return shorter >= shortestMistyped && longer <= 40 && editDistance(said, other) <= 1;
}

function sharedBeginning(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
