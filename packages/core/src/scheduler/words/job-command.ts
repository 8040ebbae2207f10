import type { TaskPriority } from '../priority.ts';

/**
 * Tasks that a job command is about, as the user has said it.
 * - `current`: "that", "this task", "the current one".
 * - `last`: "the last one", the task that was submitted last.
 * - `named`: words of its name, without article: "the battery research" is `battery research`.
 * - `number`: its place in the list that was shown, from 1.
 * - `all`: "everything", "all tasks".
 */
export type JobTarget =
  | { readonly kind: 'current' }
  | { readonly kind: 'last' }
  | { readonly kind: 'named'; readonly words: string }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'all' };

/**
 * A command about tasks.
 * - `list`: "What are you working on?"
 * - `status`: "How busy are you?"
 * - `progress`: "How is the research going?"
 * - `reprioritize`: "Do the research first."
 * - `cancel`, `suspend`, `resume`: "Cancel that.", "Pause that for now.", "Resume the research."
 * - `submit`: "This is urgent: …"; `text` is what remains to be done, with this priority.
 */
export type JobCommand =
  | { readonly kind: 'list' }
  | { readonly kind: 'status' }
  | { readonly kind: 'progress'; readonly target: JobTarget }
  | {
      readonly kind: 'reprioritize';
      readonly target: JobTarget;
      readonly priority: TaskPriority;
    }
  | { readonly kind: 'cancel' | 'suspend' | 'resume'; readonly target: JobTarget }
  | { readonly kind: 'submit'; readonly text: string; readonly priority: TaskPriority };

/** Kinds of commands that are about a task. */
export type TargetedKind = Extract<JobCommand, { target: JobTarget }>['kind'];
