import type { CompiledLanguage } from './compiled-language.ts';
import type { TaskNames } from './task-names.ts';

/** A language, names of the assistant as words, and the tasks if they are known. */
export interface ReadingContext {
  readonly compiled: CompiledLanguage;
  readonly names: readonly (readonly string[])[];
  readonly tasks: TaskNames | undefined;
}

/** Longer messages are no commands; they may begin with a word about their urgency. */
export const longestCommand = 200;

/** More words are no command either. */
export const mostWords = 40;
