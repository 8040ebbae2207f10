import type { CompiledCommand } from './compiled-language.ts';
import { type Beginning, beginnings, type Ending, endings } from './courtesies.ts';
import type { JobCommand } from './job-command.ts';
import type { CommandPhrases } from './job-language.ts';
import { matchesPhrase, type Span } from './phrase.ts';
import { type ReadTarget, readTarget } from './read-target.ts';
import { longestCommand, mostWords, type ReadingContext } from './reading-context.ts';
import { resolveAmong } from './resolve-target.ts';
import { readTokens, type Token, type TokenLine } from './tokens.ts';

/** Reads a message that is a command from its first word to its last, but for courtesies. */
export function readCommand(text: string, context: ReadingContext): JobCommand | undefined {
  if (text.length > longestCommand) return undefined;
  const { compiled, names } = context;
  const line = readTokens(text, compiled.language.contractions);
  if (!line.isPlain || line.tokens.length > mostWords) return undefined;
  const words = line.tokens.map(({ word }) => word);
  const starts = beginnings(words, compiled, names);
  for (const end of endings(words, compiled, names))
    for (const start of starts) {
      if (start.at >= end.at || line.tokens[start.at]?.isQuoted) continue;
      if (hasBreak(line, start.at, end.at, ['sentence'])) continue;
      const command = readSpan(line, words, start, end, context);
      if (command !== undefined) return command;
    }
  return undefined;
}

/** Finds such punctuation within a part of the text. */
function hasBreak(
  line: TokenLine,
  start: number,
  end: number,
  breaks: readonly Token['after'][],
): boolean {
  return line.tokens.slice(start + 1, end).some(({ after }) => breaks.includes(after));
}

function readSpan(
  line: TokenLine,
  words: readonly string[],
  start: Beginning,
  end: Ending,
  context: ReadingContext,
): JobCommand | undefined {
  const said = start.inflects ? inflected(words, start.at, context) : words;
  if (said === undefined) return undefined;
  const span = { words: said, start: start.at, end: end.at };
  const isOrderInDoubt = line.endsWithQuestionMark && !start.asks && !end.asks;
  for (const compiled of context.compiled.commands) {
    if (!couldMatch(compiled, span)) continue;
    if (isOrderInDoubt && !isQuestion(compiled.command)) continue;
    const command = readPhraseOfCommand(line, span, compiled, context);
    if (command !== undefined) return command;
  }
  return undefined;
}

/** "Cancel that?" asks whether to cancel; "could you cancel that?" does not. */
function isQuestion({ kind }: CommandPhrases): boolean {
  return kind === 'list' || kind === 'status' || kind === 'progress';
}

function inflected(
  words: readonly string[],
  at: number,
  { compiled }: ReadingContext,
): readonly string[] | undefined {
  const { inflections } = compiled.language;
  const word = words[at] ?? '';
  return Object.hasOwn(inflections, word) ? words.with(at, inflections[word] ?? '') : undefined;
}

function couldMatch({ first, last }: CompiledCommand, { words, start, end }: Span): boolean {
  return (
    (first === undefined || first.has(words[start] ?? '')) &&
    (last === undefined || last.has(words[end - 1] ?? ''))
  );
}

function readPhraseOfCommand(
  line: TokenLine,
  span: Span,
  { command, phrase }: CompiledCommand,
  context: ReadingContext,
): JobCommand | undefined {
  let read: ReadTarget | undefined;
  const matches = matchesPhrase(phrase, span, (slot, start, end) => {
    if (hasBreak(line, start, end, ['comma', 'sentence'])) return false;
    read = readTarget(slot, { words: span.words, start, end }, context.compiled);
    return read !== undefined && isMeant(read, command, context);
  });
  if (!matches) return undefined;
  if (command.kind === 'list' || command.kind === 'status') return { kind: command.kind };
  if (read === undefined) {
    read = { target: { kind: 'current' }, evidence: 'sure' };
    if (!isMeant(read, command, context)) return undefined;
  }
  const { target } = read;
  return command.kind === 'reprioritize'
    ? { kind: command.kind, target, priority: command.priority }
    : { kind: command.kind, target };
}

/** Checks that there is enough evidence that a target is a task. */
function isMeant(
  { target, evidence }: ReadTarget,
  { kind, onlyOfKnownTasks }: CommandPhrases,
  { tasks }: ReadingContext,
): boolean {
  if (kind === 'list' || kind === 'status') return true;
  if (tasks === undefined) return evidence === 'sure' && onlyOfKnownTasks !== true;
  return resolveAmong(target, tasks, kind, evidence === 'whole').kind !== 'none';
}
