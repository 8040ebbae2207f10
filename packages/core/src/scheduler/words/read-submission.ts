import type { TaskPriority } from '../priority.ts';
import type { CompiledSubmission } from './compiled-language.ts';
import { beginnings } from './courtesies.ts';
import type { JobCommand } from './job-command.ts';
import { phraseEnds } from './phrase.ts';
import { longestCommand, mostWords, type ReadingContext } from './reading-context.ts';
import { readTokens, type Token } from './tokens.ts';

type Submission = Extract<JobCommand, { kind: 'submit' }>;

/** Reads a message that begins with how urgent it is: "This is urgent: book a table for two". */
export function readSubmission(text: string, context: ReadingContext): Submission | undefined {
  const { compiled, names } = context;
  const { tokens } = readTokens(text.slice(0, longestCommand), compiled.language.contractions);
  const words = tokens.slice(0, mostWords).map(({ word }) => word);
  for (const start of beginnings(words, compiled, names)) {
    for (const submission of compiled.submissions) {
      const end = endOf(submission, words, start.at, tokens, context);
      if (end !== undefined) return submitted(text, tokens[end - 1], submission.priority);
    }
  }
  return undefined;
}

/** Returns the end of the phrase, if what follows is something to do. */
function endOf(
  { phrase, needsRequest }: CompiledSubmission,
  words: readonly string[],
  start: number,
  tokens: readonly Token[],
  context: ReadingContext,
): number | undefined {
  const ends = [...phraseEnds(phrase, { words, start, end: words.length })];
  return ends
    .sort((a, b) => b - a)
    .find((end) => {
      if (end + fewestWords > words.length || hasSentence(tokens, start, end)) return false;
      const rest = beginnings(words.slice(end), context.compiled, context.names);
      // "No rush, but …" is parted within the phrase.
      const isParted = tokens.slice(start + 1, end + 1).some(({ after }) => after !== 'nothing');
      if (rest.some(({ at }) => end + at === words.length)) return false;
      const asks = rest.some((beginning) => beginning.asks);
      if (!isParted && !asks) return false;
      return !needsRequest || rest.some(({ at }) => isRequest(words, end + at, context));
    });
}

/** A rest of one word, or of courtesies, is no task: "Urgent, right?" */
const fewestWords = 2;

function hasSentence(tokens: readonly Token[], start: number, end: number): boolean {
  return tokens.slice(start + 1, end).some(({ after }) => after === 'sentence');
}

function isRequest(words: readonly string[], start: number, { compiled }: ReadingContext): boolean {
  const span = { words, start, end: words.length };
  return compiled.requests.some((phrase) => phraseEnds(phrase, span).size > 0);
}

function submitted(text: string, before: Token | undefined, priority: TaskPriority): Submission {
  const rest = text.slice(before?.end ?? 0).replace(/^[\s,.:;!…–—-]+/, '');
  return { kind: 'submit', text: rest, priority };
}
