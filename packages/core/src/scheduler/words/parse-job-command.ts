import { checkOptions } from '../../base/invalid-option.ts';
import { isList, isListOfText } from '../../base/options.ts';
import type { TaskInfo } from '../task-info.ts';
import { compiledLanguage } from './compiled-language.ts';
import { english } from './english/english.ts';
import type { JobCommand } from './job-command.ts';
import type { JobLanguage } from './job-language.ts';
import { readCommand } from './read-command.ts';
import { readSubmission } from './read-submission.ts';
import type { ReadingContext } from './reading-context.ts';
import { TaskNames } from './task-names.ts';
import { wordsOfName } from './tokens.ts';

/** Knowledge with which a message is read. */
export interface ParseJobCommandOptions {
  /**
   * Tasks of the user, in the order of the list that was shown. With them a command counts only if
   * it can be carried out on one of them, and any task may be called by its whole name.
   */
  readonly tasks?: readonly TaskInfo[];
  /** Names by which the assistant is addressed: "Annie, what are you working on?" */
  readonly assistantNames?: readonly string[];
  /** Languages to look in, one after the other. @default English */
  readonly languages?: readonly JobLanguage[];
}

/**
 * Reads a message as a command about tasks. Returns `undefined` for any other message: a command
 * is the whole message, apart from courtesies. No model is asked.
 *
 * @example
 * ```ts
 * import { parseJobCommand } from 'adjutant/scheduler';
 *
 * console.log(parseJobCommand('Could you do the research first, please?'));
 * // { kind: 'reprioritize', target: { kind: 'named', words: 'research' }, priority: 'high' }
 * console.log(parseJobCommand('Cancel my flight to Paris')); // undefined
 * ```
 *
 * @throws InvalidOptionError
 */
export function parseJobCommand(
  text: string,
  options: ParseJobCommandOptions = {},
): JobCommand | undefined {
  if (typeof text !== 'string') return undefined;
  checkOptions('parseJobCommand', options, {
    tasks: isList,
    assistantNames: isListOfText,
    languages: isList,
  });
  const names = (options.assistantNames ?? []).map(wordsOfName);
  const { languages = [english] } = options;
  const tasks = options.tasks && new TaskNames(options.tasks, languages);
  for (const language of languages) {
    const context = { compiled: compiledLanguage(language), names, tasks };
    const command = readMessage(text.trim(), context);
    if (command !== undefined) return command;
  }
  return undefined;
}

/** "Urgent: cancel the research" is a command, not a new task. */
function readMessage(text: string, context: ReadingContext): JobCommand | undefined {
  const command = readCommand(text, context);
  if (command !== undefined) return command;
  const submission = readSubmission(text, context);
  return submission && (readCommand(submission.text, context) ?? submission);
}
