import type { JobCommand, JobTarget, TaskPriority } from 'adjutant/scheduler';

/** A message, and the command that it is. */
export interface Phrasing {
  readonly text: string;
  readonly command: JobCommand;
}

export const current: JobTarget = { kind: 'current' };
export const last: JobTarget = { kind: 'last' };
export const all: JobTarget = { kind: 'all' };
export const named = (words: string): JobTarget => ({ kind: 'named', words });
export const number = (which: number): JobTarget => ({ kind: 'number', number: which });
export const research = named('research');

export function each(command: JobCommand, texts: readonly string[]): Phrasing[] {
  return texts.map((text) => ({ text, command }));
}

export function on(
  kind: 'cancel' | 'suspend' | 'resume' | 'progress',
  target: JobTarget,
  texts: readonly string[],
): Phrasing[] {
  return each({ kind, target }, texts);
}

export function to(
  priority: TaskPriority,
  target: JobTarget,
  texts: readonly string[],
): Phrasing[] {
  return each({ kind: 'reprioritize', target, priority }, texts);
}

export function submit(priority: TaskPriority, text: string, texts: readonly string[]): Phrasing[] {
  return each({ kind: 'submit', text, priority }, texts);
}
